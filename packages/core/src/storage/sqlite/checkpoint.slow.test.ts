import { spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { itInFull } from '@tendon/testing';
import { contentOf, message } from '../contract/message.ts';
import { temporaryDatabase, type TemporaryDatabase } from './temporary-database.test-support.ts';
import { MAX_WAL_BYTES } from './wal.ts';

describe('checkpoints', () => {
  let database: TemporaryDatabase;
  beforeEach(() => {
    database = temporaryDatabase();
  });
  afterEach(() => database.dispose());

  itInFull('EL24: the WAL stays bounded while the log grows, and what was moved is there for readers all the time', async () => {
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

  it('EL23, EL24: the main thread syncs nothing between opening and closing, checkpoints included', () => {
    const trace = join(database.dir, 'trace');
    const writer = ['--conditions=tendon-source', join(import.meta.dirname, 'fixtures/writer.ts'), database.path, database.blobDir, '800'];
    spawnSync('strace', ['-f', '-e', 'trace=fsync,fdatasync,write', '-o', trace, process.execPath, ...writer], { stdio: 'ignore' });
    const lines = readFileSync(trace, 'utf8').split('\n');
    const main = lines[0]!.split(' ')[0]!;
    const calls = lines
      .slice(lines.findIndex((line) => line.includes('write(1, "small 0 ')))
      .filter((line) => /\b(fsync|fdatasync)\(/.test(line));
    expect(calls.filter((line) => line.startsWith(`${main} `))).toEqual([]);
    // One for each append, and those of the checkpoints.
    expect(calls.length).toBeGreaterThan(799);
  });
});
