/** Payloads that are written in the commit of their event: the prepared statements of the table `payloads`. Synchronous; writes run inside the group's transaction. */
import type { DatabaseSync } from 'node:sqlite';
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { deflateRaw, inflateRaw } from 'node:zlib';
import type { BlobResult, BlobStore } from '../blobs/blob-store.ts';

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

/**
 * In the database the content of a payload is durable with the commit of its event. A larger one is a file: the disk would write it twice, and
 * copying it would block the event loop.
 */
export const MAX_IN_DATABASE_BYTES = 256 * 1024;
/** The fastest level: texts shrink to a third, and it runs off the event loop. */
const LEVEL = 1;

const deflate = promisify(deflateRaw);
const inflate = promisify(inflateRaw);

/** The row for a payload of at most `MAX_IN_DATABASE_BYTES`; deflated where that saves an eighth. */
export async function toPayloadRow(content: Buffer): Promise<PayloadRow> {
  const small = await deflate(content, { level: LEVEL });
  const isSmaller = small.length < content.length * (7 / 8);
  return { hash: sha256(content), ...(isSmaller ? { deflated: 1, bytes: small } : { deflated: 0, bytes: content }) };
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
      return row ? await contentOf(row) : await this.#blobs.get(hash);
    } catch (error) {
      return { ok: false, reason: `payload ${hash} cannot be read: ${(error as Error).message}` };
    }
  }
}

async function contentOf({ hash, deflated, bytes }: PayloadRow): Promise<BlobResult> {
  const content = deflated ? await inflate(bytes, { maxOutputLength: MAX_IN_DATABASE_BYTES }) : Buffer.from(bytes);
  return sha256(content) === hash
    ? { ok: true, bytes: content }
    : { ok: false, reason: `payload ${hash} has other content than was written` };
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
