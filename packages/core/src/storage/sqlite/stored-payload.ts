/** Where the content of a payload is: in the database up to 256 KB, so that it is durable with the commit of its event; above that in a file. */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { deflateRaw, inflateRaw } from 'node:zlib';
import type { BlobResult, BlobStore } from '../blobs/blob-store.ts';
import type { PayloadRow, PayloadTable } from './payload-table.ts';

/** A larger one is a file: the disk would write it twice, and copying it would block the event loop. */
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
