import { statSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { contentOf, message } from '../contract/message.ts';
import { temporaryDatabase, type TemporaryDatabase } from './temporary-database.test-support.ts';
import { MAX_WAL_BYTES } from './wal.ts';

describe('checkpoints', () => {
  let database: TemporaryDatabase;
  beforeEach(() => {
    database = temporaryDatabase();
  });
  afterEach(() => database.dispose());

  it('EL24: the WAL stays bounded while the log grows, and what was moved is there for readers all the time', async () => {
    const storage = await database.open();
    const log = await storage.events.open('c');
    const content = (id: number): string => `${id};`.repeat(2_000);
    const rounds = Math.ceil((4 * MAX_WAL_BYTES) / (10 * content(100).length));
    for (let round = 0; round < rounds; round++) {
      const appended = log.append(
        Array.from({ length: 10 }, (_, n) => message(content(round * 10 + n))),
        { expectedId: round * 10 },
      );
      const [first] = await log.read({ limit: 1 });
      expect(first === undefined || first.id === 0).toBe(true);
      await appended;
    }
    expect(statSync(`${database.path}-wal`).size).toBeLessThan(2 * MAX_WAL_BYTES);
    expect(statSync(database.path).size).toBeGreaterThan(2 * MAX_WAL_BYTES);
    const contents = (await log.read()).map(contentOf);
    expect(contents.findIndex((text, id) => text !== content(id))).toBe(-1);
    expect(contents).toHaveLength(rounds * 10);
    expect(storage.findings).toEqual([]);
  });
});
