/**
 * Owns every write to the database: what is asked for while one group is being made durable becomes the next group, one transaction and one
 * fdatasync for all conversations together. It does not know what is written.
 *
 * Invariants
 * GC1  Nothing is published, and no promise resolved, before the WAL up to its commit is on the disk.
 * GC2  The transaction is synchronous; the fdatasync is not: the event loop never waits for the disk to settle.
 * GC3  One group at a time: between the COMMIT of a group and its fdatasync nobody else writes, checkpoints or (through `whenDurable`) reads.
 * GC4  After an error of fdatasync nothing is written any more: the kernel may have dropped the pages, and asking again would be answered "fine".
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { StorageError } from '../../log/storage-error.ts';

/** More than these waiting writes are refused: callers wait for their own, so this many is a fault. */
const MAX_QUEUED = 10_000;
/** Bounds how long the event loop is busy with one transaction. */
const MAX_GROUP = 128;

/** Runs inside the transaction, only writes, and gives what is to be done when it is durable. The outcome may throw: that rejects this write alone. */
export type Write<T> = (staged: Staged) => () => T;

/** Where each log stands inside the running transaction, not visible to anybody else. Keyed by the log. */
export type Staged = Map<object, { readonly nextId: number; readonly lastTimestamp: string }>;

interface Queued {
  readonly write: Write<unknown>;
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
}

/** What the group commit needs of the WAL. */
export interface DurableWal {
  /** Everything committed so far is on the disk when it resolves. */
  sync(): Promise<void>;
  /** Moves the WAL into the database file when it is due. Nobody writes meanwhile. Never rejects. */
  checkpointIfDue(): Promise<void>;
}

export class GroupCommit {
  readonly #db: DatabaseSync;
  readonly #wal: DurableWal;
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  readonly #queue: Queued[] = [];
  readonly #readers: (() => void)[] = [];
  #draining: Promise<void> | undefined;
  /** Between the COMMIT of a group and its fdatasync. */
  #unsettled = false;
  /** Set after a group failed: its writes are tried one by one, so that only those concerned fail. */
  #alone = 0;
  #refusal: StorageError | undefined;

  constructor(db: DatabaseSync, wal: DurableWal) {
    this.#db = db;
    this.#wal = wal;
    this.#begin = db.prepare('BEGIN IMMEDIATE');
    this.#commit = db.prepare('COMMIT');
  }

  /** Resolves with the outcome when it is durable; rejects with what the outcome threw, or with `StorageError`. */
  write<T>(write: Write<T>): Promise<T> {
    if (this.#refusal) return Promise.reject(this.#refusal);
    if (this.#queue.length >= MAX_QUEUED)
      return Promise.reject(new StorageError('undone', `${MAX_QUEUED} writes are waiting for the disk`));
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ write, resolve, reject });
      this.#draining ??= Promise.resolve().then(() => this.#drain());
    });
  }

  /** Runs `read` at a moment when everything committed is durable. */
  whenDurable<T>(read: () => T): Promise<T> {
    if (this.#refusal) return Promise.reject(this.#refusal);
    return new Promise<T>((resolve, reject) => {
      const run = (): void => {
        try {
          if (this.#refusal) throw this.#refusal;
          resolve(read());
        } catch (error) {
          reject(error);
        }
      };
      if (this.#unsettled) this.#readers.push(run);
      else run();
    });
  }

  /** Refuses new writes and resolves when the accepted ones are settled. */
  async close(): Promise<void> {
    const accepted = this.#draining;
    this.#refusal ??= new StorageError('closed', 'the storage is closed');
    await accepted;
  }

  async #drain(): Promise<void> {
    while (this.#queue.length > 0) {
      const group = this.#queue.splice(0, this.#alone > 0 ? 1 : MAX_GROUP);
      this.#alone = Math.max(0, this.#alone - 1);
      await this.#settle(group);
      this.#unsettled = false;
      for (const read of this.#readers.splice(0)) read();
      if (!this.#failed) await this.#wal.checkpointIfDue();
    }
    this.#draining = undefined;
  }

  async #settle(group: readonly Queued[]): Promise<void> {
    if (this.#failed) return rejectAll(group, this.#failed);
    let outcomes: readonly (() => unknown)[];
    try {
      outcomes = this.#transact(group);
    } catch (error) {
      if (group.length > 1) {
        this.#queue.unshift(...group);
        this.#alone = group.length;
        return;
      }
      return rejectAll(group, new StorageError('undone', `the write was undone: ${(error as Error).message}`, { cause: error }));
    }
    try {
      await this.#wal.sync();
    } catch (error) {
      this.#refusal = new StorageError('failed', `the disk failed to keep a write (${(error as Error).message}). Restart the server.`, {
        cause: error,
      });
      return rejectAll(group, this.#refusal);
    }
    for (const [index, { resolve, reject }] of group.entries()) {
      try {
        resolve(outcomes[index]!() as never);
      } catch (error) {
        reject(error);
      }
    }
  }

  #transact(group: readonly Queued[]): readonly (() => unknown)[] {
    this.#begin.run();
    try {
      const staged: Staged = new Map();
      const outcomes = group.map(({ write }) => write(staged));
      this.#commit.run();
      this.#unsettled = true;
      return outcomes;
    } catch (error) {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
      throw error;
    }
  }

  get #failed(): StorageError | undefined {
    return this.#refusal?.code === 'failed' ? this.#refusal : undefined;
  }
}

function rejectAll(group: readonly Queued[], error: unknown): void {
  for (const { reject } of group) reject(error);
}
