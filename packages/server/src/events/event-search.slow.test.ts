/** Searches for words in logs, with an index that is missing, behind, complete, of another version, damaged or interrupted. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { EventLog, Storage } from '@tendon/core';
import { createMemoryStorage } from '@tendon/core/storage';
import { MessageAction } from '@tendon/protocol';
import { itInFull, runs } from '@tendon/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../server.test-support.ts';
import { systemClock } from '../platform/system-clock.ts';
import type { EventSearch } from './event-search.ts';
import { database, filled, idsFound, READS_ALL, searchOf } from './event-search.test-support.ts';

/** Waits until the log is in the index but for its last page. */
async function indexed(storage: Storage, log: EventLog, search: EventSearch, version = '1'): Promise<void> {
  const to = async () => {
    await search.parts(log, 'anything', { from: 0, to: log.nextId });
    return storage.pages.indexedTo({ conversationId: 'c', version });
  };
  await expect.poll(to, { timeout: 60_000 }).toBeGreaterThan(log.nextId - 256);
}

const WORDS = [
  'needle-77',
  'NEEDLE-499\\nline',
  'ÄÖ-4',
  'äö-49',
  '"END300',
  'line two of 2',
  'of 2',
  'e',
  'ou',
  'nowhere',
  'user',
  '"observation":"run"',
  'long long',
];

describe.each([
  ['memory', async () => createMemoryStorage({ clock: systemClock })],
  ['sqlite', database],
] as const)('SV203: words are found whatever the index knows (%s)', (_name, open) => {
  it('as when every event is read: from either end, between ids, and page by page', async () => {
    const storage = await open();
    const log = await filled(storage, 750);
    const search = searchOf(storage);
    const queries = [
      ...WORDS.flatMap((query) => [{ query }, { query, reverse: true, limit: 3 }, { query, start_id: 320, end_id: 651 }]),
      ...fc.sample(
        fc.record({
          query: fc.oneof(
            fc.constantFrom(...WORDS),
            fc.string({ unit: fc.constantFrom('e', 'E', '-', '1', '4', ' ', 'n'), minLength: 1, maxLength: 4 }),
          ),
          reverse: fc.boolean(),
          limit: fc.integer({ min: 1, max: 100 }),
          start_id: fc.integer({ min: 0, max: 800 }),
          end_id: fc.integer({ min: 0, max: 800 }),
        }),
        { numRuns: runs(60), seed: 203 },
      ),
    ];
    const expected = [];
    for (const query of queries) expected.push(await idsFound(log, query, READS_ALL));
    for (const [n, query] of queries.entries()) expect([query, await idsFound(log, query, search)]).toEqual([query, expected[n]]); // while it is indexed
    await indexed(storage, log, search);
    for (const [n, query] of queries.entries()) expect([query, await idsFound(log, query, search)]).toEqual([query, expected[n]]);
    await log.append([{ source: 'user', ...MessageAction.create({ content: 'Needle-77 again' }) }], { expectedId: 750 });
    expect(await idsFound(log, { query: 'needle-77', reverse: true, limit: 1 }, search)).toMatchObject({ ids: [750] });
  });
});

describe('SV204: the index of events', () => {
  itInFull('leaves few events to read, and the event loop is yielded', async () => {
    const storage = await database();
    const log = await filled(storage, 3_000);
    const search = searchOf(storage);
    await indexed(storage, log, search);
    const parts = await search.parts(log, '"end1500', { from: 0, to: log.nextId });
    const toRead = parts.reduce((sum, { from, to }) => sum + to - from, 0);
    expect(toRead).toBeLessThan(64 + 256 + 3_000 / 97 + 64);
    expect(await idsFound(log, { query: '"end1500' }, search)).toMatchObject({ ids: [1_500] });
    let turns = 0;
    let isOver = false;
    const count = (): void => void (isOver || (turns++, setImmediate(count)));
    count();
    await idsFound(log, { query: 'zz' }, search);
    isOver = true;
    expect(turns).toBeGreaterThanOrEqual(3_000 / 200);
  });

  it('is made by searches only, and continued where a process ended', async () => {
    const home = temporaryFolder();
    const first = await database(home);
    const log = await filled(first, 2_000);
    expect(await first.pages.indexedTo({ conversationId: 'c', version: '1' })).toBe(0);
    const cut = searchOf(first);
    await cut.parts(log, 'needle', { from: 0, to: log.nextId });
    await expect.poll(() => first.pages.indexedTo({ conversationId: 'c', version: '1' })).toBeGreaterThan(0);
    await cut.close();
    await first.close();
    const second = await database(home);
    const again = await second.events.open('c');
    const begun = await second.pages.indexedTo({ conversationId: 'c', version: '1' });
    expect(begun).toBeGreaterThan(0);
    const expected = await idsFound(again, { query: 'needle-77' }, READS_ALL);
    const search = searchOf(second);
    expect(await idsFound(again, { query: 'needle-77' }, search)).toEqual(expected);
    await indexed(second, again, search);
    expect(await idsFound(again, { query: 'needle-77' }, search)).toEqual(expected);
  });

  it('of another version is made anew', async () => {
    const storage = await database();
    const log = await filled(storage, 1_000);
    await indexed(storage, log, searchOf(storage));
    const search = searchOf(storage, { version: '2' });
    const expected = await idsFound(log, { query: 'needle-77' }, READS_ALL);
    expect(await idsFound(log, { query: 'needle-77' }, search)).toEqual(expected);
    await indexed(storage, log, search, '2');
    expect(await idsFound(log, { query: 'needle-77' }, search)).toEqual(expected);
  });

  it('that cannot be read costs time and nothing else', async () => {
    const home = temporaryFolder();
    const storage = await database(home);
    const log = await filled(storage, 600);
    const problems: unknown[] = [];
    const search = searchOf(storage, { problems });
    await indexed(storage, log, search);
    const spoiling = new DatabaseSync(join(home, 't.db'), { defensive: false });
    spoiling.exec('DROP TABLE search_text_data');
    spoiling.close();
    expect(await idsFound(log, { query: 'needle-77' }, search)).toEqual(await idsFound(log, { query: 'needle-77' }, READS_ALL));
    expect(problems).not.toEqual([]);
    await storage.events.delete('c');
    expect((await storage.events.open('c')).nextId).toBe(0);
  });

  it('of a log that is deleted while it is made leaves nothing', async () => {
    const storage = await database();
    const log = await filled(storage, 2_000);
    const problems: unknown[] = [];
    const search = searchOf(storage, { problems });
    await search.parts(log, 'needle', { from: 0, to: log.nextId });
    await expect.poll(() => storage.pages.indexedTo({ conversationId: 'c', version: '1' })).toBeGreaterThan(0);
    await storage.events.delete('c');
    await search.close();
    expect(await storage.pages.indexedTo({ conversationId: 'c', version: '1' })).toBe(0);
    expect(problems).toEqual([]);
  });
});

it('SV1003: a search of many logs indexes two of them at a time, and all of them in the end', async () => {
  const storage = await database();
  const ids = Array.from({ length: 8 }, (_, n) => `many-${n}`);
  const open = new Set<string>();
  let most = 0;
  const pages: Storage['pages'] = {
    indexedTo: (...args) => storage.pages.indexedTo(...args),
    find: (...args) => storage.pages.find(...args),
    clear: async (id) => {
      open.add(id);
      most = Math.max(most, open.size);
      await storage.pages.clear(id);
    },
    add: async (...args) => {
      const isAdded = await storage.pages.add(...args);
      if (args[1].to > 500) open.delete(args[0].conversationId);
      return isAdded;
    },
  };
  const search = searchOf({ ...storage, events: storage.events, pages });
  for (const id of ids) {
    const log = await storage.events.open(id);
    await log.append(
      Array.from({ length: 600 }, (_, n) => ({ source: 'user' as const, ...MessageAction.create({ content: `word ${n}` }) })),
      { expectedId: 0 },
    );
  }
  for (const id of ids) {
    const log = await storage.events.open(id);
    await search.parts(log, 'word', { from: 0, to: log.nextId });
  }
  const done = () => Promise.all(ids.map((conversationId) => storage.pages.indexedTo({ conversationId, version: '1' })));
  await expect.poll(async () => Math.min(...(await done())), { timeout: 60_000 }).toBeGreaterThan(500);
  expect(most).toBeLessThanOrEqual(2);
});
