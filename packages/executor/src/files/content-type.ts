import type { FileHandle } from 'node:fs/promises';
import { NotText } from './failures.ts';

/** What the first bytes of a file say it is. */
export interface ContentType {
  readonly kind: 'image' | 'pdf' | 'video' | 'audio' | 'other';
  readonly mime: string;
  /** For people. */
  readonly name: string;
}

type MagicBytes = ContentType & { readonly at?: number; readonly bytes: string };

const image = (mime: string, name: string, bytes: string, at = 0): MagicBytes => ({ kind: 'image', mime, name, bytes, at });
const other = (name: string, bytes: string, at = 0): MagicBytes => ({ kind: 'other', mime: 'application/octet-stream', name, bytes, at });

/** Bytes as Latin-1. SVG is text and is treated as such: it is edited, and models do not take it as an image. */
const SIGNATURES: readonly MagicBytes[] = [
  image('image/png', 'PNG image', '\x89PNG\r\n\x1a\n'),
  image('image/jpeg', 'JPEG image', '\xff\xd8\xff'),
  image('image/gif', 'GIF image', 'GIF87a'),
  image('image/gif', 'GIF image', 'GIF89a'),
  image('image/webp', 'WebP image', 'WEBP', 8),
  { kind: 'pdf', mime: 'application/pdf', name: 'PDF', bytes: '%PDF-' },
  { kind: 'video', mime: 'video/mp4', name: 'MP4 or QuickTime video', bytes: 'ftyp', at: 4 },
  { kind: 'video', mime: 'video/webm', name: 'WebM or Matroska video', bytes: '\x1aE\xdf\xa3' },
  { kind: 'video', mime: 'video/ogg', name: 'Ogg video or audio', bytes: 'OggS\0' },
  { kind: 'video', mime: 'video/x-msvideo', name: 'AVI video', bytes: 'AVI ', at: 8 },
  { kind: 'audio', mime: 'audio/wav', name: 'WAV audio', bytes: 'WAVE', at: 8 },
  { kind: 'audio', mime: 'audio/mpeg', name: 'MP3 audio', bytes: 'ID3\x03' },
  { kind: 'audio', mime: 'audio/mpeg', name: 'MP3 audio', bytes: 'ID3\x04' },
  other('ELF program', '\x7fELF'),
  other('zip archive', 'PK\x03\x04'),
  other('gzip archive', '\x1f\x8b'),
  other('xz archive', '\xfd7zXZ\0'),
  other('bzip2 archive', 'BZh91AY'),
  other('zstandard archive', '\x28\xb5\x2f\xfd'),
  other('tar archive', 'ustar', 257),
  other('SQLite database', 'SQLite format 3\0'),
];

/** Bytes that a type must have to be known. */
const HEAD_BYTES = 512;

/** Nothing for what has no signature: text, and binaries of any other kind. */
export function contentTypeOf(head: Buffer): ContentType | undefined {
  const text = head.toString('latin1', 0, HEAD_BYTES);
  if (isBitmap(head)) return { kind: 'image', mime: 'image/bmp', name: 'BMP image' };
  const found = SIGNATURES.find(({ at = 0, bytes }) => text.startsWith(bytes, at));
  return found && { kind: found.kind, mime: found.mime, name: found.name };
}

/** "BM" also begins words: the reserved zeros and the size of the header are looked at, too. */
function isBitmap(head: Buffer): boolean {
  return head.length >= 18 && head.toString('latin1', 0, 2) === 'BM' && head.readUInt32LE(6) === 0 && head.readUInt32LE(14) < 256;
}

const MAX_MEDIA_BYTES = 8 * 1024 * 1024;

/**
 * An image or a PDF as a data URL, which is how clients and models take them; nothing for what is read as text. Throws `NotText`
 * for what is neither, and for one that is too large.
 */
export async function readMedia(file: FileHandle): Promise<string | undefined> {
  const { bytesRead, buffer } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
  const type = contentTypeOf(buffer.subarray(0, bytesRead));
  if (type === undefined) return undefined;
  if (type.kind !== 'image' && type.kind !== 'pdf') throw new NotText(`it is a binary file (${type.name})`);
  const { size } = await file.stat();
  if (size > MAX_MEDIA_BYTES) throw new NotText(`it is a ${type.name} of ${size} bytes, and at most ${MAX_MEDIA_BYTES} are shown`);
  return `data:${type.mime};base64,${(await file.readFile()).toString('base64')}`;
}
