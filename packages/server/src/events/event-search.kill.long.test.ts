import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../server.test-support.ts';
import { database, filled, idsFound, READS_ALL, searchOf } from './event-search.test-support.ts';

it('SV204: the index of events is correct however often the indexing process is killed', async () => {
  const home = temporaryFolder();
  const first = await database(home);
  const log = await filled(first, 3_000);
  const queries = ['needle-77', '"end300', 'line two of 29', 'ÄÖ-4'].map((query) => ({ query }));
  const expected = await Promise.all(queries.map((query) => idsFound(log, query, READS_ALL)));
  await first.close();
  let indexedTo = 0;
  for (let kill = 0; kill < 4; kill++) {
    indexedTo = await killedPast(home, indexedTo);
    const storage = await database(home);
    const again = await storage.events.open('c');
    expect(await storage.pages.indexedTo({ conversationId: 'c', version: '1' })).toBeGreaterThanOrEqual(indexedTo);
    const search = searchOf(storage);
    expect(await Promise.all(queries.map((query) => idsFound(again, query, search)))).toEqual(expected);
    await search.close();
    await storage.close();
  }
  expect(indexedTo).toBeGreaterThan(0);
});

/** Kills a process that continues the index when it is past `from`, or is done; returns the progress that it printed. */
async function killedPast(home: string, from: number): Promise<number> {
  const child = spawn(process.execPath, ['--conditions=tendon-source', join(import.meta.dirname, 'fixtures/indexing.ts'), home]);
  const closed = once(child, 'close');
  let indexedTo = 0;
  for await (const line of createInterface(child.stdout)) {
    indexedTo = Number(line);
    if (indexedTo > from || indexedTo > 2_700) child.kill('SIGKILL');
  }
  await closed;
  return indexedTo;
}
