/** Payloads that are written in the commit of their event: the prepared statements of the table `payloads`. Synchronous; writes run inside the group's transaction. */
import type { DatabaseSync } from 'node:sqlite';
import type { BlobResult, BlobStore } from '../blobs/blob-store.ts';
import { StorageError } from '../../log/storage-error.ts';
import type { PayloadPlace } from '../rows/prepared-draft.ts';
import { contentOf, toPayloadRow, type PayloadRow } from '../rows/payload-row.ts';

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

/**
 * In the database the content of a payload is durable with the commit of its event. A larger one is a file: the disk would write it twice, and
 * copying it would block the event loop.
 */
const MAX_IN_DATABASE_BYTES = 256 * 1024;

/** Finds the place of a payload: in the row's commit, or in a file that `held` then names and the caller must release, also when it rejects. */
export async function placePayload(bytes: Buffer, blobs: BlobStore, held: string[]): Promise<PayloadPlace> {
  if (bytes.length <= MAX_IN_DATABASE_BYTES) return toPayloadRow(bytes);
  try {
    const hash = await blobs.put(bytes);
    held.push(hash);
    return { hash };
  } catch (error) {
    throw new StorageError('undone', `a payload of ${bytes.length} bytes could not be stored: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

/** Reads the payloads of one conversation. Those of older versions are files, whatever their size. */
export class PayloadReader {
  readonly #conversationId: string;
  readonly #table: PayloadTable;
  readonly #blobs: BlobStore;

  constructor(conversationId: string, table: PayloadTable, blobs: BlobStore) {
    this.#conversationId = conversationId;
    this.#table = table;
    this.#blobs = blobs;
  }

  /** Total: an unreadable payload yields a text that says so. */
  async get(hash: string): Promise<BlobResult> {
    try {
      const row = this.#table.get(this.#conversationId, hash);
      return row ? await contentOf(row, MAX_IN_DATABASE_BYTES) : await this.#blobs.get(hash);
    } catch (error) {
      return { ok: false, reason: `payload ${hash} cannot be read: ${(error as Error).message}` };
    }
  }
}
