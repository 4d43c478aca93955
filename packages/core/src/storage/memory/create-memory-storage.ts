import type { Event } from '@tendon/protocol';
import type { Clock } from '../../async/clock.ts';
import {
  type EventLog,
  AppendConflict,
  type AppendOptions,
  type LogSnapshot,
  type ReadRange,
  type SourcedDraft,
} from '../../log/event-log.ts';
import { StorageError } from '../../log/storage-error.ts';
import { IN_PROCESS } from '../../scheduling/scheduler.ts';
import type { ListOptions, RecordChange, RecordRename, RecordStore, RenamedIds, Renaming, Storage, StoredRecord } from '../storage.ts';
import { deepFreeze, settleDraft, stamp, timestampsAfter, randomEpoch } from '../../log/stamp.ts';
import { follow, type Followable, Wakeup } from '../../log/follow.ts';
import { type IdRange, type IndexedLog, type PageIndex, type TextPage, isTitled } from '../page-index.ts';

/** Keeps everything in the process and forgets it with it; for tests, examples and throw-away runs. */
export function createMemoryStorage({ clock }: { readonly clock: Clock }): Storage {
  const logs = new Map<string, MemoryLog>();
  let closed = false;
  const assertOpen = (): void => {
    if (closed) throw new StorageError('closed', 'the storage is closed');
  };
  const pages = new MemoryPageIndex((id) => logs.get(id)?.nextId ?? 0);
  return {
    pages,
    events: {
      async open(conversationId): Promise<EventLog> {
        assertOpen();
        let log = logs.get(conversationId);
        if (!log) logs.set(conversationId, (log = new MemoryLog(conversationId, clock)));
        return log;
      },
      async delete(conversationId) {
        assertOpen();
        logs.get(conversationId)?.end(`conversation ${conversationId} was deleted`);
        logs.delete(conversationId);
        await pages.clear(conversationId);
      },
    },
    records: new MemoryRecordStore(assertOpen),
    scheduler: IN_PROCESS,
    findings: [],
    sweep: async () => 0,
    close: async () => {
      // After the appends that were accepted before: theirs is the next microtask.
      await Promise.resolve();
      closed = true;
      for (const log of logs.values()) log.end('the storage is closed');
    },
  };
}

const PAGE = 256;

class MemoryLog implements EventLog, Followable {
  readonly conversationId: string;
  readonly changed = new Wakeup();
  readonly #clock: Clock;
  readonly #events: Event[] = [];
  readonly #epoch = randomEpoch();
  #snapshot: LogSnapshot | undefined;
  #endedBecause: string | undefined;

  constructor(conversationId: string, clock: Clock) {
    this.conversationId = conversationId;
    this.#clock = clock;
  }

  get nextId(): number {
    return this.#events.length;
  }

  get ended(): boolean {
    return this.#endedBecause !== undefined;
  }

  async append(drafts: readonly SourcedDraft[], { expectedId, timestamps }: AppendOptions): Promise<readonly Event[]> {
    const settled = drafts.map((draft) => deepFreeze(settleDraft(draft)));
    // Durable takes a moment everywhere: nobody may come to rely on an append that is done before its promise.
    await Promise.resolve();
    this.#assertOpen();
    if (expectedId !== this.nextId) throw new AppendConflict(expectedId, this.nextId);
    const at = timestampsAfter(this.#events.at(-1)?.timestamp ?? '', this.#clock.now(), settled.length, timestamps);
    const events = settled.map((draft, index) => Object.freeze(stamp(draft, expectedId + index, at[index]!)));
    this.#events.push(...events);
    if (events.length > 0) this.changed.wake();
    return Object.freeze(events);
  }

  async read({ from = 0, to = this.nextId, limit = Infinity, reverse = false }: ReadRange = {}): Promise<readonly Event[]> {
    this.#assertOpen();
    const events = this.#events.slice(Math.max(0, from), Math.max(0, to));
    return (reverse ? events.toReversed() : events).slice(0, Math.max(0, limit));
  }

  epochOf(): string {
    return this.#epoch;
  }

  follow(from: number, { signal }: { readonly signal: AbortSignal }): AsyncIterable<Event> {
    return follow(this, from, signal);
  }

  async snapshot(): Promise<LogSnapshot | undefined> {
    this.#assertOpen();
    return this.#snapshot;
  }

  async storeSnapshot(snapshot: LogSnapshot): Promise<void> {
    this.#assertOpen();
    this.#snapshot = snapshot;
  }

  page(from: number): readonly Event[] {
    return this.#events.slice(from, from + PAGE);
  }

  /** Followers end, everything else is refused from now on. */
  end(reason: string): void {
    this.#endedBecause ??= reason;
    this.changed.wake();
  }

  #assertOpen(): void {
    if (this.#endedBecause !== undefined) throw new StorageError('closed', this.#endedBecause);
  }
}

class MemoryPageIndex implements PageIndex {
  readonly #nextId: (conversationId: string) => number;
  readonly #logs = new Map<string, { readonly version: string; readonly pages: TextPage[] }>();

  constructor(nextId: (conversationId: string) => number) {
    this.#nextId = nextId;
  }

  async indexedTo(log: IndexedLog): Promise<number> {
    return this.#pages(log).at(-1)?.to ?? 0;
  }

  async add(log: IndexedLog, page: TextPage): Promise<boolean> {
    const known = this.#logs.get(log.conversationId) ?? { version: log.version, pages: [] };
    const end = known.pages.at(-1)?.to ?? 0;
    if (known.version !== log.version || page.from !== end || page.to > this.#nextId(log.conversationId)) return false;
    known.pages.push(page);
    this.#logs.set(log.conversationId, known);
    return true;
  }

  async find(log: IndexedLog, text: string): Promise<readonly IdRange[]> {
    const mayHold = this.#pages(log).filter((page) => page.text === undefined || page.text.includes(text));
    return mayHold.map(({ from, to }) => ({ from, to }));
  }

  async clear(conversationId: string): Promise<void> {
    this.#logs.delete(conversationId);
  }

  #pages({ conversationId, version }: IndexedLog): readonly TextPage[] {
    const known = this.#logs.get(conversationId);
    return known?.version === version ? known.pages : [];
  }
}

interface Place {
  readonly sort: string;
  readonly id: string;
}

/** Records as JSON text, so that nothing is shared with the caller. */
class MemoryRecordStore implements RecordStore {
  readonly #assertOpen: () => void;
  readonly #collections = new Map<string, Map<string, { readonly sort: string; readonly json: string }>>();

  constructor(assertOpen: () => void) {
    this.#assertOpen = assertOpen;
  }

  async get<T>(collection: string, id: string): Promise<T | undefined> {
    const found = this.#records(collection).get(id);
    return found && (JSON.parse(found.json) as T);
  }

  async put(collection: string, { id, sort, value }: StoredRecord): Promise<void> {
    this.#records(collection).set(id, { sort, json: JSON.stringify(value) });
  }

  async delete(collection: string, id: string): Promise<boolean> {
    return this.#records(collection).delete(id);
  }

  async update<T>(collection: string, id: string, change: RecordChange<T>): Promise<T | undefined> {
    const found = this.#records(collection).get(id);
    const value = found && (JSON.parse(found.json) as T);
    const changed = change(value);
    if (!changed) return value;
    this.#records(collection).set(id, { sort: changed.sort, json: JSON.stringify(changed.value) });
    return changed.value;
  }

  async rename<T>(collection: string, { from, to }: RenamedIds, change: RecordRename<T>): Promise<Renaming> {
    const records = this.#records(collection);
    const found = records.get(from);
    if (!found) return 'missing';
    if (records.has(to)) return 'taken';
    const { sort, value } = change(JSON.parse(found.json) as T);
    records.set(to, { sort, json: JSON.stringify(value) });
    records.delete(from);
    return 'renamed';
  }

  /** Nobody else can change them. */
  watch(): () => void {
    return () => undefined;
  }

  async list<T>(collection: string, { limit, before, titled }: ListOptions = {}) {
    const places = [...this.#records(collection)].map(([id, { sort, json }]) => ({ id, sort, json }));
    return places
      .filter((place) => !before || descending(before, place) < 0)
      .toSorted(descending)
      .map(({ id, sort, json }): StoredRecord<T> => ({ id, sort, value: JSON.parse(json) as T }))
      .filter(({ value }) => titled === undefined || isTitled(value, titled))
      .slice(0, limit);
  }

  #records(collection: string) {
    this.#assertOpen();
    let records = this.#collections.get(collection);
    if (!records) this.#collections.set(collection, (records = new Map()));
    return records;
  }
}

/** By UTF-8 bytes, as SQLite compares text. */
function descending(a: Place, b: Place): number {
  return compareBytes(b.sort, a.sort) || compareBytes(b.id, a.id);
}

function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
