import { Worker } from 'node:worker_threads';

/**
 * Runs in a thread of its own: moving the WAL into the database file, with SQLite's own fsyncs, and then one small write, because the first
 * write after that begins the WAL anew and syncs its header. So neither happens on the event loop. As text, because a
 * bundle has no file that a worker could be started from.
 */
const PROGRAM = `
  const { parentPort, workerData } = require('node:worker_threads');
  const { DatabaseSync } = require('node:sqlite');
  let problem;
  try {
    const db = new DatabaseSync(workerData.path, { timeout: 5000 });
    db.exec('PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0');
    const { busy } = db.prepare('PRAGMA wal_checkpoint(RESTART)').get();
    if (busy) problem = 'somebody was reading it';
    else db.exec('UPDATE writer SET turn = turn + 1');
    db.close();
  } catch (error) {
    problem = error.message;
  }
  parentPort.postMessage(problem);
`;

/** Checkpoints the database at `path`. Nobody may write meanwhile; reading goes on. Resolves with what went wrong, if anything; never rejects. */
export function checkpoint(path: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const worker = new Worker(PROGRAM, {
      eval: true,
      workerData: { path },
      execArgv: [],
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: 32 },
    });
    let problem: string | undefined = 'the thread ended early';
    worker.once('message', (message: string | undefined) => (problem = message));
    worker.once('error', (error) => (problem = error.message));
    worker.once('exit', () => resolve(problem));
  });
}
