/**
 * The prepared statements of the table `snapshots`: at most one for each log. Synchronous; writes run inside the group's transaction.
 *
 * A snapshot is only a cache: one that is damaged, or was made of other events than the log has now, is treated as missing.
 */
import type { DatabaseSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import type { LogSnapshot } from '../../log/event-log.ts';
import { isDamage } from './event-table.ts';

interface SnapshotRow {
  readonly next_id: number;
  readonly body: string;
  readonly checksum: number;
}

export class SnapshotTable {
  readonly #get;
  readonly #put;
  readonly #delete;

  constructor(db: DatabaseSync) {
    // The last event of a snapshot proves that it belongs to this log: a log that was cut back or began anew has another there, or none.
    this.#get = db.prepare(
      `SELECT next_id, stored.body, stored.checksum FROM snapshots AS stored
       JOIN events AS last ON last.conversation_id = stored.conversation_id AND last.id = next_id - 1 AND last.checksum = last_checksum
       WHERE stored.conversation_id = ?`,
    );
    this.#put = db.prepare(
      `INSERT INTO snapshots (conversation_id, next_id, last_checksum, body, checksum)
       SELECT conversation_id, id + 1, checksum, ?, ? FROM events WHERE conversation_id = ? AND id = ?
       ON CONFLICT (conversation_id) DO UPDATE
       SET next_id = excluded.next_id, last_checksum = excluded.last_checksum, body = excluded.body, checksum = excluded.checksum`,
    );
    this.#delete = db.prepare('DELETE FROM snapshots WHERE conversation_id = ?');
  }

  get(conversationId: string): LogSnapshot | undefined {
    try {
      const row = this.#get.get(conversationId) as unknown as SnapshotRow | undefined;
      return row && crc32(row.body) === row.checksum ? { nextId: row.next_id, text: row.body } : undefined;
    } catch (error) {
      if (!isDamage(error)) throw error;
      return undefined;
    }
  }

  put(conversationId: string, { nextId, text }: LogSnapshot): void {
    this.#put.run(text, crc32(text), conversationId, nextId - 1);
  }

  delete(conversationId: string): void {
    this.#delete.run(conversationId);
  }
}
