/** How the content of a payload is written in a database, whichever it is. */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { deflateRaw, inflateRaw } from 'node:zlib';
import type { BlobResult } from '../blobs/blob-store.ts';

/** As in the table `payloads`. */
export interface PayloadRow {
  /** sha256 of the content, hex. */
  readonly hash: string;
  /** 1: `bytes` are the content as deflate left it. */
  readonly deflated: 0 | 1;
  readonly bytes: Uint8Array;
}

/** The fastest level: texts shrink to a third, and it runs off the event loop. */
const LEVEL = 1;

const deflate = promisify(deflateRaw);
const inflate = promisify(inflateRaw);

/** Deflated where that saves an eighth. */
export async function toPayloadRow(content: Buffer): Promise<PayloadRow> {
  const small = await deflate(content, { level: LEVEL });
  const isSmaller = small.length < content.length * (7 / 8);
  return { hash: sha256(content), ...(isSmaller ? { deflated: 1, bytes: small } : { deflated: 0, bytes: content }) };
}

/** The content of a row that holds at most so many bytes. Rejects when it cannot be inflated. */
export async function contentOf({ hash, deflated, bytes }: PayloadRow, maxBytes: number): Promise<BlobResult> {
  const content = deflated ? await inflate(bytes, { maxOutputLength: maxBytes }) : Buffer.from(bytes);
  return sha256(content) === hash
    ? { ok: true, bytes: content }
    : { ok: false, reason: `payload ${hash} has other content than was written` };
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
