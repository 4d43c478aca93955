/** Payloads that are written in the commit of their event: the prepared statements of the table `payloads`. Synchronous; writes run inside the group's transaction. */
import type { DatabaseSync } from 'node:sqlite';

/** As in the table. */
export interface PayloadRow {
  /** sha256 of the content, hex. */
  readonly hash: string;
  /** 1: `bytes` are the content as deflate left it. */
  readonly deflated: 0 | 1;
  readonly bytes: Uint8Array;
}

export class PayloadTable {
  readonly #get;
  readonly #put;
  readonly #delete;
  readonly #after;

  constructor(db: DatabaseSync) {
    this.#get = db.prepare('SELECT hash, deflated, bytes FROM payloads WHERE conversation_id = ? AND hash = ?');
    this.#put = db.prepare(
      `INSERT INTO payloads (conversation_id, hash, deflated, bytes) VALUES (?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET deflated = excluded.deflated, bytes = excluded.bytes`,
    );
    this.#delete = db.prepare('DELETE FROM payloads WHERE rowid IN (SELECT rowid FROM payloads WHERE conversation_id = ? LIMIT ?)');
    this.#after = db.prepare('SELECT conversation_id AS id FROM payloads WHERE conversation_id > ? ORDER BY conversation_id LIMIT 1');
  }

  get(conversationId: string, hash: string): PayloadRow | undefined {
    return this.#get.get(conversationId, hash) as unknown as PayloadRow | undefined;
  }

  /** Equal content is stored once per conversation. Existing bytes are compared, and damaged ones are written again. */
  put(conversationId: string, { hash, deflated, bytes }: PayloadRow): void {
    const present = this.get(conversationId, hash);
    if (present?.deflated === deflated && Buffer.compare(present.bytes, bytes) === 0) return;
    this.#put.run(conversationId, hash, deflated, bytes);
  }

  /** Removes at most this many payloads of a conversation; returns how many. */
  delete(conversationId: string, limit: number): number {
    return Number(this.#delete.run(conversationId, limit).changes);
  }

  /** The first conversation with payloads whose id comes after this one. */
  conversationAfter(id: string): string | undefined {
    return (this.#after.get(id) as { readonly id: string } | undefined)?.id;
  }
}
