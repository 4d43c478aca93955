/**
 * Owns the descriptor through which the WAL is made durable, and decides when it is moved into the database file.
 *
 * The connection runs with `synchronous=NORMAL` and no automatic checkpoint: SQLite then syncs on the event loop only when it begins the WAL anew,
 * and that write is made by the checkpoint's own thread (see checkpoint.ts). Opening and closing the `-wal` file here is harmless:
 * SQLite's locks are on the database and the `-shm` file. Never open those two (see process-lock.ts).
 */
import { open, type FileHandle } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import type { DurableWal } from './group-commit.ts';

/**
 * Keeps opening after a crash, and the pause of a checkpoint, short.
 * @internal
 */
export const MAX_WAL_BYTES = 4 * 1024 * 1024;
/** A commit rewrites about this much beside what it adds: the pages that it touches. */
const COMMIT_OVERHEAD_BYTES = 3 * 4096;

export interface WalOptions {
  readonly path: string;
  /** How a file is made durable; tests put failing disks here. */
  readonly fdatasync?: (file: FileHandle) => Promise<void>;
  readonly onProblem: (sentence: string) => void;
}

export class Wal implements DurableWal {
  readonly #file: FileHandle;
  readonly #options: WalOptions;
  readonly #fdatasync: (file: FileHandle) => Promise<void>;
  #bytes: number;

  private constructor(file: FileHandle, options: WalOptions, bytes: number) {
    this.#file = file;
    this.#options = options;
    this.#fdatasync = options.fdatasync ?? ((handle) => handle.datasync());
    this.#bytes = bytes;
  }

  /** The database must be open and have a WAL. What a crashed process left in it is durable when this resolves. */
  static async open(options: WalOptions): Promise<Wal> {
    const file = await open(`${options.path}-wal`, 'r+');
    const wal = new Wal(file, options, (await file.stat()).size);
    try {
      await wal.sync();
    } catch (error) {
      await file.close();
      throw error;
    }
    return wal;
  }

  /** Notes what the running transaction adds, in bytes. */
  grow(bytes: number): void {
    this.#bytes += bytes;
  }

  sync(): Promise<void> {
    this.#bytes += COMMIT_OVERHEAD_BYTES;
    return this.#fdatasync(this.#file);
  }

  async checkpointIfDue(): Promise<void> {
    if (this.#bytes < MAX_WAL_BYTES) return;
    // Whatever comes of it, the next try is a full WAL later: a disk that cannot do it is not asked at every commit.
    this.#bytes = 0;
    const problem = await checkpoint(this.#options.path);
    if (problem !== undefined) this.#options.onProblem(`the WAL of ${this.#options.path} was not checkpointed: ${problem}`);
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}

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
function checkpoint(path: string): Promise<string | undefined> {
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
