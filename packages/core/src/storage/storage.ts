import type { EventStore } from '../log/event-log.ts';
import type { Scheduler } from '../scheduling/scheduler.ts';
import type { PageIndex } from './page-index.ts';

/** A small JSON document. `sort` orders a collection's listing (newest first = descending). */
export interface StoredRecord<T = unknown> {
  readonly id: string;
  readonly sort: string;
  readonly value: T;
}

/** What a record is to be, of the value that it has; `undefined` leaves it. */
export type RecordChange<T> = (value: T | undefined) => Omit<StoredRecord<T>, 'id'> | undefined;

export interface RenamedIds {
  readonly from: string;
  readonly to: string;
}

/** What the record is to be under its other id. */
export type RecordRename<T> = (value: T) => Omit<StoredRecord<T>, 'id'>;

/** \`taken\` and \`missing\` say why nothing was changed. */
export type Renaming = 'renamed' | 'taken' | 'missing';

export interface ListOptions {
  readonly limit?: number;
  /** The last record of the page before. */
  readonly before?: { readonly sort: string; readonly id: string };
  /** Only records whose value has a `title` that contains these words, whatever the letter case. Yields the event loop where there are many records. */
  readonly titled?: string;
}

/** Small durable JSON documents beside the logs: conversations, sandboxes, settings. Each call is one commit. */
export type RecordWatcher = () => Promise<unknown> | undefined;

export interface RecordStore {
  get<T>(collection: string, id: string): Promise<T | undefined>;
  put(collection: string, record: StoredRecord): Promise<void>;
  delete(collection: string, id: string): Promise<boolean>;
  /**
   * Puts what `change` makes of the record's value as it is now, or leaves it where that is `undefined`; resolves with the value as it is then.
   * `change` only computes: it may be asked several times, when another server was faster.
   */
  update<T>(collection: string, id: string, change: RecordChange<T>): Promise<T | undefined>;
  /**
   * Puts what `change` makes of the record's value as it is now under another id, and removes the record, both or neither. Like that
   * of `update`, `change` only computes.
   */
  rename<T>(collection: string, ids: RenamedIds, change: RecordRename<T>): Promise<Renaming>;
  /**
   * Called after other servers have changed the collection, within a second; also for nothing, and again until it does not reject. The
   * returned function ends it.
   */
  watch(collection: string, onChange: RecordWatcher): () => void;
  /** Descending by (`sort`, `id`); fewer than `limit` only at the end. */
  list<T>(collection: string, options?: ListOptions): Promise<readonly StoredRecord<T>[]>;
}

/** One storage backend: `memory`, `sqlite` and `postgres` pass the same contract suite. */
export interface Storage {
  readonly events: EventStore;
  readonly records: RecordStore;
  readonly pages: PageIndex;
  /** Which server drives which conversation: this one, where the storage is not shared. */
  readonly scheduler: Scheduler;
  /** What opening found damaged or repaired, one sentence each; empty when all is well. */
  readonly findings: readonly string[];
  /** Removes the leftovers of a killed process that no log refers to; resolves with how many files and payloads were removed. */
  sweep(): Promise<number>;
  close(): Promise<void>;
}

/** A conversation as it is listed; collection `conversations`, sorted by `created_at`. */
export interface ConversationRecord {
  readonly id: string;
  readonly title: string;
  readonly created_at: string;
  readonly updated_at: string;
  /** The host folder that is `/workspace` in the sandbox; realpath. */
  readonly workspace: string;
  readonly agent: string;
  readonly model: string;
  readonly trigger: string;
  readonly selected_repository: string | null;
  readonly selected_branch: string | null;
  readonly git_provider: string | null;
}

const MAX_FINDINGS = 100;

/** What was found damaged or repaired, one sentence each, once each, bounded: a ruined disk must not fill the memory as well. */
export class Findings {
  readonly list: string[] = [];
  readonly #onFinding: (sentence: string) => void;

  constructor(onFinding: (sentence: string) => void = () => {}) {
    this.#onFinding = onFinding;
  }

  add(sentence: string): void {
    if (this.list.includes(sentence) || this.list.length > MAX_FINDINGS) return;
    const finding = this.list.length < MAX_FINDINGS ? sentence : 'more damage was found than is listed here';
    this.list.push(finding);
    this.#onFinding(finding);
  }
}
