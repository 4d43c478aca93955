/** The prepared statements of the tables `events`, `blob_uses` and `epochs`. Synchronous; writes run inside the group's transaction. */
import type { DatabaseSync } from 'node:sqlite';
import { StorageError } from '../../log/storage-error.ts';
import type { EventRow } from '../rows/event-row.ts';

const MAX_PAGE_ROWS = 256;
const MAX_PAGE_CHARACTERS = 512 * 1024;

export class EventTable {
  readonly #insert;
  readonly #last;
  readonly #one;
  readonly #ascending;
  readonly #descending;
  readonly #use;
  readonly #used;
  readonly #orphans;
  readonly #deleteFrom;
  readonly #deleteUses;
  readonly #beginEpoch;
  readonly #epoch;
  readonly #deleteEpochs;

  constructor(db: DatabaseSync) {
    const columns = 'conversation_id, id, timestamp, source, body, payloads, checksum';
    const range = `SELECT ${columns} FROM events WHERE conversation_id = ? AND id >= ? AND id < ? ORDER BY id`;
    this.#insert = db.prepare(`INSERT INTO events (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?)`);
    this.#last = db.prepare('SELECT max(id) AS id FROM events WHERE conversation_id = ?');
    this.#one = db.prepare(`SELECT ${columns} FROM events WHERE conversation_id = ? AND id = ?`);
    this.#ascending = db.prepare(range);
    this.#descending = db.prepare(`${range} DESC`);
    this.#use = db.prepare('INSERT OR IGNORE INTO blob_uses (hash, conversation_id) VALUES (?, ?)');
    this.#used = db.prepare('SELECT 1 FROM blob_uses WHERE hash = ? LIMIT 1');
    this.#orphans = db.prepare(
      `SELECT hash FROM blob_uses AS mine WHERE conversation_id = ?
       AND NOT EXISTS (SELECT 1 FROM blob_uses AS other WHERE other.hash = mine.hash AND other.conversation_id <> mine.conversation_id)`,
    );
    this.#deleteFrom = db.prepare('DELETE FROM events WHERE conversation_id = ? AND id >= ?');
    this.#deleteUses = db.prepare('DELETE FROM blob_uses WHERE conversation_id = ?');
    this.#beginEpoch = db.prepare('INSERT OR REPLACE INTO epochs (conversation_id, from_id, epoch) VALUES (?, ?, ?)');
    this.#epoch = db.prepare('SELECT epoch FROM epochs WHERE conversation_id = ? AND from_id <= ? ORDER BY from_id DESC LIMIT 1');
    this.#deleteEpochs = db.prepare('DELETE FROM epochs WHERE conversation_id = ?');
  }

  insert(row: EventRow, hashes: readonly string[]): void {
    this.#insert.run(row.conversation_id, row.id, row.timestamp, row.source, row.body, row.payloads, row.checksum);
    for (const hash of hashes) this.#use.run(hash, row.conversation_id);
  }

  /** Removes the events from this id on. */
  deleteFrom(conversationId: string, id: number): void {
    this.#deleteFrom.run(conversationId, id);
  }

  /** Whether a log refers to this blob; true where that cannot be found out. */
  isUsed(hash: string): boolean {
    try {
      return this.#used.get(hash) !== undefined;
    } catch {
      return true;
    }
  }

  /** From this id on. */
  beginEpoch(conversationId: string, id: number, epoch: string): void {
    this.#beginEpoch.run(conversationId, id, epoch);
  }

  /** The epoch of the event with this id. Throws `StorageError` when it cannot be read: the effect would get an unknown key. */
  epochOf(conversationId: string, id: number): string {
    return this.#certain(conversationId, () => (this.#epoch.get(conversationId, id) as { epoch: string } | undefined)?.epoch ?? '');
  }

  /** Deletes the remaining rows of a conversation without events, and its blob uses; returns the blobs that only it used. */
  deleteRest(conversationId: string): readonly string[] {
    this.#deleteEpochs.run(conversationId);
    const orphans = this.#orphans.all(conversationId) as unknown as { hash: string }[];
    this.#deleteUses.run(conversationId);
    return orphans.map(({ hash }) => hash);
  }

  /** The highest id, −1 when there is none. Throws `StorageError` when it cannot be found out: appending would be guesswork. */
  lastId(conversationId: string): number {
    return this.#certain(conversationId, () => (this.#last.get(conversationId) as { id: number | null }).id ?? -1);
  }

  /**
   * The rows of [from, to) in order, as many as fit a page, at least one; `undefined` stands for a row that is not there or cannot be read.
   * `from` < `to`; `reverse` begins at `to` − 1.
   */
  page(conversationId: string, from: number, to: number, reverse: boolean): readonly (EventRow | undefined)[] {
    const [lo, hi] = reverse ? [Math.max(from, to - MAX_PAGE_ROWS), to] : [from, Math.min(to, from + MAX_PAGE_ROWS)];
    const place = (id: number): number => (reverse ? hi - 1 - id : id - lo);
    const rows: (EventRow | undefined)[] = [];
    try {
      let characters = 0;
      for (const row of (reverse ? this.#descending : this.#ascending).iterate(conversationId, lo, hi) as unknown as Iterable<EventRow>) {
        while (rows.length < place(row.id)) rows.push(undefined);
        rows.push(row);
        if ((characters += row.body.length) > MAX_PAGE_CHARACTERS) return rows;
      }
      while (rows.length < hi - lo) rows.push(undefined);
      return rows;
    } catch (error) {
      if (!isDamage(error)) throw error;
      // A broken page of the database file hides its rows only: the others are fetched one by one.
      return Array.from({ length: hi - lo }, (_, index) => this.#readable(conversationId, reverse ? hi - 1 - index : lo + index));
    }
  }

  #certain<T>(conversationId: string, read: () => T): T {
    try {
      return read();
    } catch (error) {
      if (!isDamage(error)) throw error;
      throw new StorageError('unusable', `conversation ${conversationId} cannot be read: ${(error as Error).message}`, { cause: error });
    }
  }

  #readable(conversationId: string, id: number): EventRow | undefined {
    try {
      return this.#one.get(conversationId, id) as unknown as EventRow | undefined;
    } catch (error) {
      if (!isDamage(error)) throw error;
      return undefined;
    }
  }
}

/** SQLITE_IOERR, SQLITE_CORRUPT, SQLITE_NOTADB, with their extended codes. */
export function isDamage(error: unknown): boolean {
  const code = (error as { errcode?: number }).errcode ?? 0;
  return [10, 11, 26].includes(code & 0xff);
}
