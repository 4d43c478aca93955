/** Upgrades a database to a later schema: first a copy, then the steps, both off the event loop, however large it is. */
import { closeSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { backup, type DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import { syncDir } from '../blobs/blob-store.ts';

/** Pages that are copied before the event loop is yielded: 4 MB. */
const PAGES_AT_ONCE = 1024;

/**
 * Copies the database into the file `to`, which exists only when it is whole and synced, and which only its owner can read. An
 * existing file is replaced: it may be truncated, and is not newer. Nothing else may write to the database meanwhile.
 */
export async function copyDatabase(db: DatabaseSync, to: string, onProgress: (percent: number) => void): Promise<void> {
  const unfinished = `${to}.unfinished`;
  const clear = (): void => ['', '-journal'].forEach((end) => rmSync(unfinished + end, { force: true }));
  clear();
  onProgress(0);
  // Created here, because SQLite would make it readable for others.
  closeSync(openSync(unfinished, 'w', 0o600));
  try {
    await backup(db, unfinished, {
      rate: PAGES_AT_ONCE,
      progress: ({ totalPages, remainingPages }) => onProgress(Math.floor(100 - (100 * remainingPages) / totalPages)),
    });
    syncFile(unfinished);
    renameSync(unfinished, to);
    await syncDir(dirname(to));
  } catch (error) {
    clear();
    throw error;
  }
}

function syncFile(path: string): void {
  const file = openSync(path, 'r+');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** As text, because a bundle has no file that a worker could be started from. */
const PROGRAM = `
  const { parentPort, workerData } = require('node:worker_threads');
  const { DatabaseSync } = require('node:sqlite');
  const db = new DatabaseSync(workerData.path, { timeout: 60000 });
  let problem;
  try {
    for (const script of workerData.scripts) db.exec(script);
  } catch (error) {
    problem = error.message;
    if (db.isTransaction) db.exec('ROLLBACK');
  }
  db.close();
  parentPort.postMessage(problem);
`;

/** Runs the scripts one after the other in a thread; each is a transaction, durable when it is over. Rejects with the first that fails. */
export function runInThread(path: string, scripts: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(PROGRAM, { eval: true, workerData: { path, scripts }, execArgv: [], env: {} });
    let problem: string | undefined = 'the thread ended early';
    worker.once('message', (message: string | undefined) => (problem = message));
    worker.once('error', (error) => (problem = error.message));
    worker.once('exit', () => (problem === undefined ? resolve() : reject(new Error(problem))));
  });
}
