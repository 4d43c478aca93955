import type { Event, EventDraft, EventSource } from '@tendon/protocol';

/** A draft with the source it is appended under. */
export type SourcedDraft = EventDraft & { readonly source: EventSource };

/** Another writer appended first: the caller folds what it missed and decides anew. */
export class AppendConflict extends Error {
  override readonly name = 'AppendConflict';
  readonly expectedId: number;
  readonly nextId: number;
  constructor(expectedId: number, nextId: number) {
    super(`expected to append id ${expectedId}, the log is at ${nextId}`);
    this.expectedId = expectedId;
    this.nextId = nextId;
  }
}

export interface AppendOptions {
  readonly expectedId: number;
  /** Only for an import: when each draft happened, ISO 8601 with `Z`. What would go back is set to the event before. Default: now. */
  readonly timestamps?: readonly string[];
}

export interface ReadRange {
  /** First id, inclusive; default 0. */
  readonly from?: number;
  /** Last id, exclusive; default the durable mark. */
  readonly to?: number;
  /** At most so many events; default all. */
  readonly limit?: number;
  /** Newest first. */
  readonly reverse?: boolean;
}

/** The result of folding the first events of a log, in the caller's own encoding. */
export interface LogSnapshot {
  /** Events with a smaller id are in it. */
  readonly nextId: number;
  readonly text: string;
}

/**
 * One conversation's events. Nothing is visible to anybody before it is durable; ids are gapless from 0.
 * Events are deeply frozen. Large payloads live beside the rows and are put back on reading.
 */
export interface EventLog {
  readonly conversationId: string;
  /** The durable mark: the id that the next append gets. */
  readonly nextId: number;
  /**
   * All drafts or none, as one commit; they are frozen in place. Resolves when durable and visible. Rejects with `AppendConflict`,
   * with `StorageError` when the storage cannot keep them, with TypeError when a draft is not JSON.
   */
  append(drafts: readonly SourcedDraft[], options: AppendOptions): Promise<readonly Event[]>;
  read(range?: ReadRange): Promise<readonly Event[]>;
  /**
   * Distinguishes the event of this id from every other that ever had it: random, and new with each opening of the storage, because events that were
   * lost in between (a restored backup, a torn WAL, a disk reset to a snapshot) free their ids. Empty for events of
   * schemas before epochs. Throws `StorageError` when it cannot be read.
   */
  epochOf(id: number): string;
  /** Every event with id ≥ `from`, in order, first the stored ones, then live; ends when `signal` aborts, the log is deleted or the storage closed. */
  follow(from: number, options: { readonly signal: AbortSignal }): AsyncIterable<Event>;
  /** The last stored snapshot; `undefined` when it is damaged, or was made of other events than the log has now. */
  snapshot(): Promise<LogSnapshot | undefined>;
  /** Replaces the snapshot; resolves when durable. Its events must be durable already. Rejects with `StorageError`. */
  storeSnapshot(snapshot: LogSnapshot): Promise<void>;
}

/** The same log, with some of its methods replaced. */
export function withLogMethods(log: EventLog, changed: Partial<Pick<EventLog, 'append' | 'read' | 'follow'>>): EventLog {
  return {
    conversationId: log.conversationId,
    get nextId() {
      return log.nextId;
    },
    append: (drafts, options) => log.append(drafts, options),
    read: (range) => log.read(range),
    epochOf: (id) => log.epochOf(id),
    follow: (from, options) => log.follow(from, options),
    snapshot: () => log.snapshot(),
    storeSnapshot: (snapshot) => log.storeSnapshot(snapshot),
    ...changed,
  };
}

/** Where logs are stored. */
export interface EventStore {
  /** The log of a conversation; made when it does not exist. The same object for the same id while it is open. */
  open(conversationId: string): Promise<EventLog>;
  /** Removes the log, its payloads, its snapshot and the blobs that only it used. */
  delete(conversationId: string): Promise<void>;
}
