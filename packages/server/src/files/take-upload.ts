import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { Busboy, type BusboyFileStream, type BusboyHeaders } from '@fastify/busboy';
import type { UploadAnswer } from '@tendon/protocol';

export interface UploadLimits {
  readonly maxFiles: number;
  readonly maxFileBytes: number;
}

type SkippedFile = UploadAnswer['skipped_files'][number];
export interface UploadResult {
  readonly uploaded: readonly string[];
  readonly skipped: readonly SkippedFile[];
}

/**
 * Hands each file of a multipart body to `write`, one after the other: at most one is in memory, and the client waits for the disk.
 * What cannot be taken is skipped with its reason. Rejects with an Error when the body is no multipart.
 */
export async function takeUpload(
  headers: IncomingHttpHeaders,
  body: Readable,
  limits: UploadLimits,
  write: (name: string, bytes: Buffer) => Promise<void>,
): Promise<UploadResult> {
  const uploaded: string[] = [];
  const skipped: SkippedFile[] = [];
  const skip = (name: string, reason: string): void => void skipped.push({ name: name.slice(0, 300), reason });
  const parser = new Busboy({
    headers: headers as BusboyHeaders,
    preservePath: true,
    limits: { fileSize: limits.maxFileBytes, files: limits.maxFiles, fields: 20, fieldSize: 65_536, headerPairs: 100 },
  });
  let taking: Promise<void> = Promise.resolve();
  parser.on('file', (_field, stream, name) => {
    stream.on('error', () => undefined);
    taking = taking.then(() => take(stream, name ?? ''));
  });
  parser.on('filesLimit', () => skip('', `More than ${limits.maxFiles} files`));

  async function take(stream: BusboyFileStream, name: string): Promise<void> {
    const fault = uploadNameFault(name);
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of stream) if (fault === undefined) chunks.push(chunk as Buffer);
      if (fault !== undefined) return skip(name, fault);
      if (stream.truncated) return skip(name, `File exceeds the size limit of ${Math.floor(limits.maxFileBytes / 1024 / 1024)} MB`);
      await write(name, Buffer.concat(chunks));
      uploaded.push(name);
    } catch (cause) {
      skip(name, cause instanceof Error ? cause.message : String(cause));
    }
  }

  await new Promise<void>((resolve, reject) => {
    parser.once('finish', resolve).once('error', reject);
    body.once('error', reject).once('close', () => body.readableEnded || reject(new Error('the upload was cut off')));
    body.pipe(parser);
  });
  await taking;
  return { uploaded, skipped };
}

const MAX_PATH = 4096;
const MAX_NAME = 255;

/** Why a file of this name is not taken; `undefined` when it may be written below the workspace. */
export function uploadNameFault(name: string): string | undefined {
  if (name === '') return 'The file has no name';
  // oxlint-disable-next-line no-control-regex
  if (/[\u0000-\u001f\u007f\\]/.test(name)) return 'The name has characters that are not allowed';
  if (Buffer.byteLength(name) > MAX_PATH) return 'The name is too long';
  for (const part of name.split('/')) {
    if (part === '' || part === '.' || part === '..') return 'The name leads out of the workspace';
    if (Buffer.byteLength(part) > MAX_NAME) return 'The name is too long';
  }
  return undefined;
}
