/**
 * One conversation's log in the database. Owns the durable mark, the window of recent events and the followers' wake-up;
 * the rows belong to the event table, the order of writes to the group commit.
 *
 * Invariants
 * SL1  `nextId` moves only in the outcome of a durable write; nobody is given an event with id ≥ `nextId`.
 * SL2  The window ends at `nextId` and has no gaps.
 * SL3  Every id below `nextId` yields an event: where the stored one is damaged, one that says so.
 */
import { setImmediate } from 'node:timers/promises';
import type { Event } from '@tendon/protocol';
import type { Clock } from '../../async/clock.ts';
import {
  AppendConflict,
  type AppendOptions,
  type EventLog,
  type LogSnapshot,
  type ReadRange,
  type SourcedDraft,
} from '../../log/event-log.ts';
import { follow, type Followable, type Lazy, Wakeup } from '../../log/follow.ts';
import { randomEpoch, stamp, timestampsAfter } from '../../log/stamp.ts';
import { RecentEvents } from '../../log/read-pages.ts';
import { StorageError } from '../../log/storage-error.ts';
import type { BlobStore } from '../blobs/blob-store.ts';
import type { Findings } from '../storage.ts';
import { checksumOf, damagedEvent, eventOf, hydrate, type EventRow } from '../rows/event-row.ts';
import type { EventTable } from './event-table.ts';
import type { GroupCommit, Staged } from './group-commit.ts';
import { PayloadReader, placePayload, type PayloadTable } from './payload-table.ts';
import { prepareDrafts, type PreparedDraft } from '../rows/prepared-draft.ts';
import type { SqlitePageIndex } from './sqlite-page-index.ts';
import type { SnapshotTable } from './snapshot-table.ts';
import type { Wal } from './wal.ts';

/** What all logs of one database share. */
interface LogTables {
  readonly events: EventTable;
  readonly payloads: PayloadTable;
  readonly snapshots: SnapshotTable;
  readonly pages: SqlitePageIndex;
}

export interface LogParts {
  readonly clock: Clock;
  /** The epoch of the events that this opening of the database appends. */
  readonly epoch: string;
  readonly tables: LogTables;
  readonly commits: GroupCommit;
  readonly wal: Wal;
  readonly blobs: BlobStore;
  readonly findings: Findings;
  /** Logs that somebody waits for; see Wakeup. */
  readonly waitedFor: Set<Wakeup>;
}

export class SqliteLog implements EventLog, Followable {
  readonly conversationId: string;
  readonly changed: Wakeup;
  readonly #parts: LogParts;
  readonly #payloads: PayloadReader;
  readonly #recent = new RecentEvents();
  #nextId: number;
  #lastTimestamp: string;
  readonly #epoch: string;
  /** The first event that this opening of the database has appended here. */
  #epochFrom = Infinity;
  #endedBecause: string | undefined;

  constructor(conversationId: string, parts: LogParts) {
    this.conversationId = conversationId;
    this.changed = new Wakeup(parts.waitedFor);
    this.#parts = parts;
    this.#payloads = new PayloadReader(conversationId, parts.tables.payloads, parts.blobs);
    this.#nextId = parts.tables.events.lastId(conversationId) + 1;
    // A log that begins anew after another of its name was deleted reuses its ids.
    this.#epoch = this.#nextId === 0 ? randomEpoch() : parts.epoch;
    const last = this.#lastRow();
    this.#lastTimestamp = last && !this.#problem(last, last.id) ? last.timestamp : '';
  }

  get nextId(): number {
    return this.#nextId;
  }

  get ended(): boolean {
    return this.#endedBecause !== undefined;
  }

  async append(drafts: readonly SourcedDraft[], options: AppendOptions): Promise<readonly Event[]> {
    this.#assertOpen();
    if (drafts.length === 0) return [];
    const held: string[] = [];
    try {
      const prepared = await prepareDrafts(drafts, (bytes) => placePayload(bytes, this.#parts.blobs, held));
      return await this.#parts.commits.write((staged) => this.#write(prepared, options, staged));
    } finally {
      this.#parts.blobs.release(held);
    }
  }

  async read({ from = 0, to = Infinity, limit = Infinity, reverse = false }: ReadRange = {}): Promise<readonly Event[]> {
    let lo = Math.max(0, from);
    let hi = Math.min(to, this.#nextId);
    const events: Event[] = [];
    while (lo < hi && events.length < limit) {
      // Yields the event loop before each page from the disk, so that a long history delays nobody else.
      if (reverse ? hi <= this.#recent.firstId : lo < this.#recent.firstId) await setImmediate();
      this.#assertOpen();
      const wanted = limit - events.length;
      const items = reverse ? this.#items(Math.max(lo, hi - wanted), hi, true) : this.#items(lo, Math.min(hi, lo + wanted), false);
      for (const item of items) events.push(typeof item === 'function' ? await item() : item);
      this.#assertOpen(); // a read that failed because of a close found no damage
      if (reverse) hi -= items.length;
      else lo += items.length;
    }
    return events;
  }

  epochOf(id: number): string {
    return id >= this.#epochFrom ? this.#epoch : this.#parts.tables.events.epochOf(this.conversationId, id);
  }

  follow(from: number, { signal }: { readonly signal: AbortSignal }): AsyncIterable<Event> {
    return follow(this, from, signal);
  }

  snapshot(): Promise<LogSnapshot | undefined> {
    return this.#parts.commits.whenDurable(() => {
      this.#assertOpen();
      return this.#parts.tables.snapshots.get(this.conversationId);
    });
  }

  storeSnapshot(snapshot: LogSnapshot): Promise<void> {
    const { commits, tables, wal } = this.#parts;
    const { snapshots } = tables;
    return commits.write(() => {
      if (this.ended) return () => this.#assertOpen();
      snapshots.put(this.conversationId, snapshot);
      wal.grow(snapshot.text.length);
      return () => undefined;
    });
  }

  page(from: number): readonly Lazy<Event>[] {
    return this.#items(from, this.#nextId, false);
  }

  /** Followers end, everything else is refused from now on. */
  end(reason: string): void {
    this.#endedBecause ??= reason;
    this.changed.wake();
  }

  #write(prepared: readonly PreparedDraft[], { expectedId, timestamps }: AppendOptions, staged: Staged): () => readonly Event[] {
    const { nextId, lastTimestamp } = staged.get(this) ?? { nextId: this.#nextId, lastTimestamp: this.#lastTimestamp };
    if (this.ended || expectedId !== nextId) {
      return () => {
        this.#assertOpen();
        throw new AppendConflict(expectedId, nextId);
      };
    }
    const at = timestampsAfter(lastTimestamp, this.#parts.clock.now(), prepared.length, timestamps);
    const events = prepared.map(({ draft, body, payloads, hashes, rows, storedBytes }, index) => {
      const timestamp = at[index]!;
      const row = { conversation_id: this.conversationId, id: nextId + index, timestamp, source: draft.source, body, payloads };
      this.#parts.tables.events.insert({ ...row, checksum: checksumOf(row) }, hashes);
      for (const one of rows) this.#parts.tables.payloads.put(this.conversationId, one);
      this.#parts.wal.grow(storedBytes);
      return Object.freeze(stamp(draft, row.id, timestamp));
    });
    if (this.#epochFrom === Infinity) this.#parts.tables.events.beginEpoch(this.conversationId, nextId, this.#epoch);
    const latest = at.at(-1)!;
    staged.set(this, { nextId: nextId + events.length, lastTimestamp: latest });
    return () => this.#publish(events, prepared, latest);
  }

  #publish(events: readonly Event[], prepared: readonly PreparedDraft[], timestamp: string): readonly Event[] {
    for (const [index, event] of events.entries()) this.#recent.push(event, prepared[index]!.size);
    this.#epochFrom = Math.min(this.#epochFrom, this.#nextId);
    this.#nextId += events.length;
    this.#lastTimestamp = timestamp;
    this.changed.wake();
    return Object.freeze(events);
  }

  #items(from: number, to: number, reverse: boolean): readonly Lazy<Event>[] {
    const { firstId } = this.#recent;
    if (reverse && to > firstId) return this.#recent.slice(Math.max(from, firstId), to).toReversed();
    if (from >= firstId) return this.#recent.slice(from, to);
    const rows = this.#parts.tables.events.page(this.conversationId, from, to, reverse);
    const problems = rows.map((row, index) => this.#problem(row, reverse ? to - 1 - index : from + index));
    let timestamp = rows.find((row, index) => row && !problems[index])?.timestamp ?? this.#lastTimestamp;
    return rows.map((row, index) => {
      const problem = problems[index];
      if (!row || problem) return damagedEvent(reverse ? to - 1 - index : from + index, timestamp, problem ?? '');
      timestamp = row.timestamp;
      if (row.payloads === null) return () => eventOf(row);
      return () => hydrate(row, this.#payloads, (what) => this.#report(what));
    });
  }

  /** What is wrong with the row of an id, if anything; reported as it is found. */
  #problem(row: EventRow | undefined, id: number): string | undefined {
    if (row && checksumOf(row) === row.checksum) return undefined;
    const problem = `event ${id} is ${row ? 'not as it was written' : 'missing'}`;
    this.#report(problem);
    return problem;
  }

  #lastRow(): EventRow | undefined {
    return this.#nextId === 0 ? undefined : this.#parts.tables.events.page(this.conversationId, this.#nextId - 1, this.#nextId, false)[0];
  }

  #report(what: string): void {
    if (!this.ended) this.#parts.findings.add(`conversation ${this.conversationId}: ${what}`);
  }

  #assertOpen(): void {
    if (this.#endedBecause !== undefined) throw new StorageError('closed', this.#endedBecause);
  }
}
