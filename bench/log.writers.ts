/** Three ways to make an append durable, as small as they can be, for bench/log.ts. Each resolves when the event is on the disk. */
import { open, type FileHandle } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';

export interface BenchWriter {
  append(conversation: string, id: number, body: string): Promise<void>;
  close(): Promise<void>;
}

const SCHEMA = 'CREATE TABLE events (conversation TEXT, id INTEGER, body TEXT, PRIMARY KEY (conversation, id)) STRICT, WITHOUT ROWID';
const INSERT = 'INSERT INTO events VALUES (?, ?, ?)';
type LogRow = [conversation: string, id: number, body: string];
interface PendingAppend {
  readonly row: LogRow;
  readonly resolve: () => void;
}

/** One group at a time: what comes while a group is under way is the next group. */
function grouped(commit: (rows: readonly LogRow[]) => Promise<void>): BenchWriter['append'] {
  let queue: PendingAppend[] = [];
  let busy = false;
  const drain = async (): Promise<void> => {
    busy = true;
    await Promise.resolve();
    while (queue.length > 0) {
      const group = queue;
      queue = [];
      await commit(group.map(({ row }) => row));
      for (const { resolve } of group) resolve();
    }
    busy = false;
  };
  return (...row) =>
    new Promise((resolve) => {
      queue.push({ row, resolve });
      if (!busy) void drain();
    });
}

function database(path: string, synchronous: 'FULL' | 'NORMAL'): { db: DatabaseSync; commit: (rows: readonly LogRow[]) => void } {
  const db = new DatabaseSync(path);
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous}; PRAGMA wal_autocheckpoint = 0; ${SCHEMA}`);
  const insert = db.prepare(INSERT);
  const commit = (rows: readonly LogRow[]): void => {
    db.exec('BEGIN');
    for (const row of rows) insert.run(...row);
    db.exec('COMMIT');
  };
  return { db, commit };
}

/** SQLite's own fsync, on the event loop. */
export async function fullOnMainThread(path: string): Promise<BenchWriter> {
  const { db, commit } = database(path, 'FULL');
  const append = grouped(async (rows) => {
    commit(rows);
    // Else the chain of promises never lets the loop turn, and there is nothing to measure.
    await setImmediate();
  });
  return { append, close: async () => db.close() };
}

/** The transaction on the event loop, the fdatasync in libuv's pool. */
export async function asyncDatasync(path: string): Promise<BenchWriter> {
  const { db, commit } = database(path, 'NORMAL');
  commit([['warm', 0, '']]);
  const wal: FileHandle = await open(`${path}-wal`, 'r+');
  const append = grouped(async (rows) => {
    commit(rows);
    await wal.datasync();
  });
  return { append, close: async () => (await wal.close(), db.close()) };
}

const THREAD = `
  const { parentPort, workerData } = require('node:worker_threads');
  const { DatabaseSync } = require('node:sqlite');
  const db = new DatabaseSync(workerData.path);
  db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0; ${SCHEMA}");
  const insert = db.prepare('${INSERT}');
  parentPort.on('message', (rows) => {
    db.exec('BEGIN');
    for (const row of rows) insert.run(...row);
    db.exec('COMMIT');
    parentPort.postMessage(0);
  });
  parentPort.postMessage(0);
`;

/** Transaction and fsync in a thread of their own. */
export async function writerThread(path: string): Promise<BenchWriter> {
  const worker = new Worker(THREAD, { eval: true, workerData: { path }, execArgv: [] });
  const answer = (): Promise<unknown> => new Promise((resolve) => worker.once('message', resolve));
  await answer();
  const append = grouped(async (rows) => {
    const done = answer();
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    worker.postMessage(rows);
    await done;
  });
  return { append, close: async () => void (await worker.terminate()) };
}
