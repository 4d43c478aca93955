/**
 * The write-ahead log of a killed server, cut and flipped at every byte of its last three commits.
 * Small pages make "every byte" affordable, and memory for a disk: what is tested is what SQLite and we make of the bytes.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { manualClock, message } from '../contract.ts';
import { contentAt } from './fixtures/content-at.ts';
import { openSqliteStorage } from './open-sqlite-storage.ts';

const PAGE_BYTES = 1024;
const EVENTS = 10;
const TORN_COMMITS = 3;

describe('a torn or damaged write-ahead log', () => {
  let dir: string;
  let database: Buffer;
  let wal: Buffer;
  /** Where the last commits begin, and where each of them ends; page splits make some of several frames. */
  let ends: readonly number[];

  beforeAll(() => {
    dir = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'tendon-torn-'));
    const path = join(dir, 'killed.db');
    const empty = new DatabaseSync(path);
    empty.exec(`PRAGMA page_size = ${PAGE_BYTES}; VACUUM`);
    empty.close();
    ends = killedAfter(path, join(dir, 'blobs'), EVENTS).slice(-TORN_COMMITS - 1);
    database = readFileSync(path);
    wal = readFileSync(`${path}-wal`);
  });
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  /** Opens a copy with this WAL; checks that what is read is a prefix of what was written, and that the log goes on after it. */
  async function surviving(damagedWal: Buffer): Promise<{ readonly events: number; readonly findings: readonly string[] }> {
    const copy = join(dir, 'copy');
    rmSync(copy, { recursive: true, force: true });
    mkdirSync(copy);
    const path = join(copy, 't.db');
    writeFileSync(path, database);
    writeFileSync(`${path}-wal`, damagedWal);
    const storage = await openSqliteStorage({ path, blobDir: join(copy, 'blobs'), clock: manualClock() });
    try {
      const log = await storage.events.open('small');
      const contents = (await log.read()).map((event) => (event as unknown as { args: { content: string } }).args.content);
      expect(contents).toEqual(Array.from({ length: log.nextId }, (_, id) => contentAt('small', id)));
      await log.append([message('after')], { expectedId: contents.length });
      return { events: contents.length, findings: [...storage.findings] };
    } finally {
      await storage.close();
    }
  }

  /** Events whose commits lie wholly before the byte. */
  const wholeBefore = (byte: number): number => EVENTS - ends.filter((end) => end > byte).length;

  it('EL16: untouched, everything is there and nothing is reported', async () => {
    expect(wal.length).toBe(ends.at(-1));
    expect(await surviving(wal)).toEqual({ events: EVENTS, findings: [] });
  });

  it('EL16: cut at every byte, it keeps every whole commit', async () => {
    const wrong: string[] = [];
    for (let byte = ends[0]!; byte < wal.length; byte++) {
      const { events } = await surviving(wal.subarray(0, byte));
      if (events !== wholeBefore(byte)) wrong.push(`cut at ${byte}: ${events} events`);
    }
    expect(wrong).toEqual([]);
  });

  it('EL16: flipped at every byte, it keeps every commit before it and reports what broke off', async () => {
    const wrong: string[] = [];
    for (let byte = ends[0]!; byte < wal.length; byte++) {
      const flipped = Buffer.from(wal);
      flipped[byte]! ^= 1 << (byte % 8);
      const { events, findings } = await surviving(flipped);
      if (events !== wholeBefore(byte) || findings.length !== 1) wrong.push(`flipped at ${byte}: ${events} events, ${findings}`);
    }
    expect(wrong).toEqual([]);
  });
});

/** Sizes of the WAL after each event of a writer that then killed itself. */
function killedAfter(path: string, blobDir: string, events: number): readonly number[] {
  const writer = join(import.meta.dirname, 'fixtures/writer.ts');
  const args = ['--conditions=tendon-source', writer, path, blobDir, String(events)];
  try {
    execFileSync(process.execPath, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  } catch (error) {
    const { stdout, signal } = error as { stdout: string; signal: string };
    if (signal === 'SIGKILL')
      return stdout
        .trim()
        .split('\n')
        .map((line) => Number(line.split(' ')[2]));
    throw error;
  }
  throw new Error('the writer survived');
}
