/**
 * One conversation's log in Postgres. Owns the durable mark, the window of recent events and the followers' wake-up; the order of appends
 * belongs to the append queue.
 *
 * Invariants
 * PL1  `nextId` advances only over committed events; no reader gets an event with id ≥ `nextId`.
 * PL2  The window ends at `nextId` and has no gaps.
 * PL3  Events are appended under the epoch of this server's ownership. The first append claims it if nothing has done so before.
 * PL4  Every id below `nextId` yields an event: a damaged one yields a placeholder that reports the damage.
 */
import { crc32 } from 'node:zlib';
import type { Event } from '@tendon/protocol';
import type { AppendOptions, EventLog, LogSnapshot, ReadRange, SourcedDraft } from '../../log/event-log.ts';
import { follow, type Followable, type Lazy, Wakeup } from '../../log/follow.ts';
import { RecentEvents } from '../../log/read-pages.ts';
import { randomEpoch } from '../../log/stamp.ts';
import { StorageError } from '../../log/storage-error.ts';
import type { BlobResult } from '../blobs/blob-store.ts';
import { checksumOf, damagedEvent, eventOf, hydrate, type EventRow } from '../rows/event-row.ts';
import { contentOf, toPayloadRow, type PayloadRow } from '../rows/payload-row.ts';
import { prepareDrafts, type PreparedDraft } from '../rows/prepared-draft.ts';
import type { Findings } from '../storage.ts';
import type { AppendedLog, AppendQueue } from './append-queue.ts';
import type { Database } from './database.ts';
import type { LogPosition } from './log-batch.ts';
import { fencedMessage, type ServerLease } from './server-lease.ts';

/** The maximum of one payload: larger ones would not fit a statement well. */
const MAX_PAYLOAD_BYTES = 64 * 1024 * 1024;
const MAX_PAGE_ROWS = 256;
const MAX_PAGE_BYTES = 512 * 1024;

/** Shared by all logs of one database. */
export interface LogParts {
  readonly database: Database;
  readonly appends: AppendQueue;
  /** The epoch of the events that are appended during this opening of the database. */
  readonly epoch: string;
  readonly lease: Pick<ServerLease, 'id'>;
  readonly findings: Findings;
  /** Logs with waiting followers; see `Wakeup`. */
  readonly waitedFor: Set<Wakeup>;
}

interface StoredLogRow {
  readonly next_id: number | null;
  readonly last_timestamp: string;
  readonly owner: string | null;
  readonly owner_epoch: number;
  readonly epochs: EpochRow[] | null;
  readonly is_alive: boolean;
}

interface EpochRow {
  readonly from_id: number;
  readonly epoch: string;
}

export class PostgresLog implements EventLog, Followable, AppendedLog {
  readonly conversationId: string;
  readonly changed: Wakeup;
  readonly #parts: LogParts;
  #recent = new RecentEvents();
  #nextId = 0;
  #lastTimestamp = '';
  /** Ascending. */
  #epochs: EpochRow[] = [];
  #epoch = '';
  #isEpochStored = false;
  /** The epoch of this server's ownership; 0 for a new log, `undefined` before it is claimed. */
  #ownerEpoch: number | undefined = 0;
  #endedBecause: StorageError | undefined;

  private constructor(conversationId: string, parts: LogParts) {
    this.conversationId = conversationId;
    this.changed = new Wakeup(parts.waitedFor);
    this.#parts = parts;
  }

  static async load(conversationId: string, parts: LogParts): Promise<PostgresLog> {
    const log = new PostgresLog(conversationId, parts);
    await log.#load();
    // A log that begins anew after another of its name was deleted reuses its ids.
    log.#epoch = log.#nextId === 0 ? randomEpoch() : parts.epoch;
    return log;
  }

  get nextId(): number {
    return this.#nextId;
  }

  get ended(): boolean {
    return this.#endedBecause !== undefined;
  }

  get position(): LogPosition {
    const { conversationId } = this;
    return {
      conversationId,
      nextId: this.#nextId,
      lastTimestamp: this.#lastTimestamp,
      epoch: this.#epoch,
      isEpochStored: this.#isEpochStored,
      ownerEpoch: this.#ownerEpoch ?? 0,
    };
  }

  /** Called when this server has claimed the log under this epoch. */
  claimed(ownerEpoch: number): void {
    this.#ownerEpoch = ownerEpoch;
  }

  async append(drafts: readonly SourcedDraft[], options: AppendOptions): Promise<readonly Event[]> {
    this.assertOpen();
    if (drafts.length === 0) return [];
    if (this.#ownerEpoch === undefined) await this.#claim();
    return this.#parts.appends.append(this, await prepareDrafts(drafts, placed), options);
  }

  async read({ from = 0, to = Infinity, limit = Infinity, reverse = false }: ReadRange = {}): Promise<readonly Event[]> {
    let lo = Math.max(0, from);
    let hi = Math.min(to, this.#nextId);
    this.assertOpen();
    const events: Event[] = [];
    while (lo < hi && events.length < limit) {
      const wanted = limit - events.length;
      const items = reverse
        ? await this.#items(Math.max(lo, hi - wanted), hi, true)
        : await this.#items(lo, Math.min(hi, lo + wanted), false);
      for (const item of items) events.push(typeof item === 'function' ? await item() : item);
      this.assertOpen(); // a read that failed because the log was closed is not damage
      if (reverse) hi -= items.length;
      else lo += items.length;
    }
    return events;
  }

  epochOf(id: number): string {
    return this.#epochs.findLast(({ from_id: from }) => from <= id)?.epoch ?? '';
  }

  follow(from: number, { signal }: { readonly signal: AbortSignal }): AsyncIterable<Event> {
    return follow(this, from, signal);
  }

  async snapshot(): Promise<LogSnapshot | undefined> {
    this.assertOpen();
    // The last event of a snapshot proves that it belongs to this log.
    const [row] = await this.#parts.database.read<{ next_id: number; body: string; checksum: number }>(
      `SELECT s.next_id, s.body, s.checksum FROM tendon.snapshots AS s
       JOIN tendon.events AS e ON e.conversation_id = s.conversation_id AND e.id = s.next_id - 1 AND e.checksum = s.last_checksum
       WHERE s.conversation_id = $1`,
      [this.conversationId],
    );
    return row && crc32(row.body) === row.checksum ? { nextId: row.next_id, text: row.body } : undefined;
  }

  async storeSnapshot({ nextId, text }: LogSnapshot): Promise<void> {
    this.assertOpen();
    // Lock the log while the snapshot is written, so that a deletion comes before or after.
    await this.#parts.database.write(
      `WITH held AS (
         SELECT conversation_id FROM tendon.logs
         WHERE conversation_id = $1 AND owner = $5 AND owner_epoch = $6 FOR KEY SHARE
       )
       INSERT INTO tendon.snapshots (conversation_id, next_id, last_checksum, body, checksum)
       SELECT conversation_id, id + 1, checksum, $3, $4 FROM tendon.events JOIN held USING (conversation_id) WHERE id = $2::bigint - 1
       ON CONFLICT (conversation_id) DO UPDATE
       SET next_id = excluded.next_id, last_checksum = excluded.last_checksum, body = excluded.body, checksum = excluded.checksum`,
      [this.conversationId, nextId, text, crc32(text), this.#parts.lease.id, this.#ownerEpoch ?? 0],
    );
    this.assertOpen();
  }

  page(from: number): Promise<readonly Lazy<Event>[]> {
    return this.#items(from, this.#nextId, false);
  }

  publish(events: readonly Event[], prepared: readonly PreparedDraft[]): void {
    if (!this.#isEpochStored) this.#epochs.push({ from_id: this.#nextId, epoch: this.#epoch });
    if (this.#ownerEpoch === 0) this.#ownerEpoch = 1;
    this.#isEpochStored = true;
    for (const [index, event] of events.entries()) this.#recent.push(event, prepared[index]!.size);
    this.#nextId += events.length;
    this.#lastTimestamp = events.at(-1)!.timestamp;
    this.changed.wake();
  }

  async refresh(): Promise<void> {
    await this.#load();
  }

  /** Ends the followers and refuses everything else from now on. */
  end(reason: string, code: 'closed' | 'fenced' = 'closed'): void {
    this.#endedBecause ??= new StorageError(code, reason);
    this.changed.wake();
  }

  assertOpen(): void {
    if (this.#endedBecause !== undefined) throw this.#endedBecause;
  }

  /** Makes this server the owner. Rejects with `StorageError('fenced')` while the current owner is alive. */
  async #claim(): Promise<void> {
    const { database, lease } = this.#parts;
    const [row] = await database.write<{ owner_epoch: number }>(
      `UPDATE tendon.logs AS l SET owner = $2, owner_epoch = l.owner_epoch + (l.owner IS DISTINCT FROM $2)::int
       WHERE conversation_id = $1 AND EXISTS (SELECT 1 FROM tendon.servers WHERE id = $2 AND NOT ended)
         AND (l.owner IS NULL OR l.owner = $2 OR NOT EXISTS (SELECT 1 FROM tendon.servers AS s WHERE s.id = l.owner AND NOT s.ended))
       RETURNING owner_epoch`,
      [this.conversationId, lease.id],
    );
    if (row) this.#ownerEpoch = row.owner_epoch;
    // Catch up with appends of the earlier owner, or learn that the log was deleted.
    await this.#load();
    this.assertOpen();
    if (!row) throw this.#fenced();
  }

  async #load(): Promise<void> {
    const { database, lease } = this.#parts;
    const [row] = await database.read<StoredLogRow>(
      `SELECT l.next_id, l.last_timestamp, l.owner, l.owner_epoch, EXISTS (SELECT 1 FROM tendon.servers WHERE id = $2 AND NOT ended) AS is_alive, (
         SELECT json_agg(json_build_object('from_id', from_id, 'epoch', epoch) ORDER BY from_id) FROM tendon.epochs WHERE conversation_id = $1
       ) AS epochs
       FROM (SELECT 1) AS one LEFT JOIN tendon.logs AS l ON l.conversation_id = $1`,
      [this.conversationId, lease.id],
    );
    const { next_id: nextId, last_timestamp: lastTimestamp, epochs, is_alive: isAlive } = row!;
    if (!isAlive) throw new StorageError('fenced', fencedMessage(database));
    const hadIt = this.#ownerEpoch !== undefined && this.#ownerEpoch > 0;
    this.#ownerEpoch = nextId === null ? 0 : row!.owner === lease.id ? row!.owner_epoch : undefined;
    if (hadIt && nextId !== null && this.#ownerEpoch === undefined) throw this.#fenced();
    if (nextId === null && this.#nextId > 0) this.end(`conversation ${this.conversationId} was deleted`);
    if (nextId === null || nextId <= this.#nextId) return;
    // Others appended: their events are not in the window, and the next append may start a new epoch.
    this.#recent = new RecentEvents();
    this.#epochs = epochs ?? [];
    this.#isEpochStored = this.#epochs.at(-1)?.epoch === this.#epoch;
    this.#nextId = nextId;
    this.#lastTimestamp = lastTimestamp;
    this.changed.wake();
  }

  #fenced(): StorageError {
    return new StorageError('fenced', `Another server has conversation ${this.conversationId} now: this one writes nothing more of it.`);
  }

  async #items(from: number, to: number, reverse: boolean): Promise<readonly Lazy<Event>[]> {
    const { firstId } = this.#recent;
    if (reverse && to > firstId) return this.#recent.slice(Math.max(from, firstId), to).toReversed();
    if (from >= firstId) return this.#recent.slice(from, to);
    const rows = await this.#rows(from, Math.min(to, firstId), reverse);
    const problems = rows.map((row, index) => this.#problem(row, reverse ? to - 1 - index : from + index));
    let timestamp = rows.find((row, index) => row && !problems[index])?.timestamp ?? this.#lastTimestamp;
    return rows.map((row, index) => {
      const problem = problems[index];
      if (!row || problem) return damagedEvent(reverse ? to - 1 - index : from + index, timestamp, problem ?? '');
      timestamp = row.timestamp;
      if (row.payloads === null) return () => eventOf(row);
      return () => hydrate(row, { get: (hash) => this.#payload(hash) }, (what) => this.#report(what));
    });
  }

  /** The rows of [from, to) in order, as many as fit a page but at least one; `undefined` marks a missing row. */
  async #rows(from: number, to: number, reverse: boolean): Promise<readonly (EventRow | undefined)[]> {
    const [lo, hi] = reverse ? [Math.max(from, to - MAX_PAGE_ROWS), to] : [from, Math.min(to, from + MAX_PAGE_ROWS)];
    const order = reverse ? 'DESC' : 'ASC';
    const found = await this.#parts.database.read<EventRow & { readonly before: number }>(
      `SELECT conversation_id, id, timestamp, source, body, payloads, checksum FROM (
         SELECT *, sum(octet_length(body)) OVER (ORDER BY id ${order}) - octet_length(body) AS before
         FROM tendon.events WHERE conversation_id = $1 AND id >= $2 AND id < $3
       ) AS page WHERE before < ${MAX_PAGE_BYTES} ORDER BY id ${order}`,
      [this.conversationId, lo, hi],
    );
    const rows: (EventRow | undefined)[] = [];
    for (const row of found) {
      const place = reverse ? hi - 1 - row.id : row.id - lo;
      while (rows.length < place) rows.push(undefined);
      rows.push(row);
    }
    return rows.length > 0 ? rows : Array.from({ length: hi - lo }, () => undefined);
  }

  /** Total: an unreadable payload yields the reason. */
  async #payload(hash: string): Promise<BlobResult> {
    try {
      const [row] = await this.#parts.database.read<{ deflated: boolean; bytes: Buffer }>(
        'SELECT deflated, bytes FROM tendon.payloads WHERE conversation_id = $1 AND hash = $2',
        [this.conversationId, hash],
      );
      if (!row) return { ok: false, reason: `payload ${hash} is missing` };
      const { deflated, bytes } = row;
      return await contentOf({ hash, deflated: deflated ? 1 : 0, bytes }, MAX_PAYLOAD_BYTES);
    } catch (error) {
      if (error instanceof StorageError) throw error;
      return { ok: false, reason: `payload ${hash} cannot be read: ${(error as Error).message}` };
    }
  }

  /** Reports and returns what is wrong with the row of an id, if anything. */
  #problem(row: EventRow | undefined, id: number): string | undefined {
    if (row && checksumOf(row) === row.checksum) return undefined;
    const problem = `event ${id} is ${row ? 'not as it was written' : 'missing'}`;
    this.#report(problem);
    return problem;
  }

  #report(what: string): void {
    if (!this.ended) this.#parts.findings.add(`conversation ${this.conversationId}: ${what}`);
  }
}

async function placed(bytes: Buffer): Promise<PayloadRow> {
  if (bytes.length > MAX_PAYLOAD_BYTES)
    throw new StorageError('undone', `a payload of ${bytes.length} bytes is larger than the ${MAX_PAYLOAD_BYTES} that a database takes`);
  return toPayloadRow(bytes);
}
