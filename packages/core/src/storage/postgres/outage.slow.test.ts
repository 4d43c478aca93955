/** The server is killed, Postgres is killed: what was acknowledged is there once, and nothing else. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { PostgresCluster } from '@tendon/testing/postgres';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { AppendConflict } from '../../log/event-log.ts';
import { StorageError } from '../../log/storage-error.ts';
import { contentOf, message } from '../contract/message.ts';
import { TemporaryDatabase } from './temporary-database.test-support.ts';

let cluster: PostgresCluster;
let database: TemporaryDatabase;
beforeAll(async () => {
  cluster = await PostgresCluster.start();
  database = await TemporaryDatabase.create(cluster);
});
afterAll(() => cluster.remove());

it('EN1064: every acknowledged append is there, whole, and none in part, when its server is killed; the next one need not wait', async () => {
  const acknowledged = await writeUntil(40);
  const storage = await database.open();
  for (const [conversation, lastId] of acknowledged) {
    const log = await storage.events.open(conversation);
    expect(log.nextId).toBeGreaterThan(lastId);
    expect(log.nextId % 3).toBe(0);
    const heads = (await log.read()).map((event) => contentOf(event).trimEnd().replace(/ x+$/, ''));
    expect(heads).toEqual(Array.from({ length: log.nextId }, (_, id) => `${conversation} ${id}`));
  }
  expect(storage.findings).toEqual([]);
  await database.empty();
});

it('EN1065: appends that Postgres did not answer because it was killed are there once, reads wait for it, and the work goes on', async () => {
  const storage = await database.open();
  const total = 60;
  const write = async (conversation: string): Promise<void> => {
    const log = await storage.events.open(conversation);
    for (let n = 0; n < total;) {
      try {
        await log.append([message(String(n))], { expectedId: n });
        n += 1;
      } catch (error) {
        // What may have been stored shows when it is asked for again.
        if (error instanceof AppendConflict && error.nextId === n + 1) n += 1;
        else if (!(error instanceof StorageError && ['undone', 'unknown'].includes(error.code))) throw error;
      }
      if (n === total / 2) half.resolve();
    }
  };
  const half = Promise.withResolvers<void>();
  const writing = Promise.all(['a', 'b', 'c', 'd'].map(write));
  await half.promise;
  await cluster.kill();
  const reading = storage.records.list('things');
  await cluster.resume();
  expect(await reading).toEqual([]);
  await writing;
  for (const conversation of ['a', 'b', 'c', 'd']) {
    const log = await storage.events.open(conversation);
    expect((await log.read()).map(contentOf)).toEqual(Array.from({ length: total }, (_, n) => String(n)));
  }
  await database.empty();
});

/** Kills a writer after so many acknowledgements; resolves with the last acknowledged id of each conversation. */
async function writeUntil(count: number): Promise<ReadonlyMap<string, number>> {
  const args = ['--conditions=tendon-source', join(import.meta.dirname, 'fixtures/writer.ts'), database.url];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => child.once('close', resolve));
  const acknowledged = new Map<string, number>();
  let lines = 0;
  createInterface({ input: child.stdout }).on('line', (line) => {
    const [conversation, id] = line.split(' ');
    if (id !== undefined && /^[a-d] \d+$/.test(line)) acknowledged.set(conversation!, Number(id));
    if (++lines === count) child.kill('SIGKILL');
  });
  await ended;
  return acknowledged;
}
