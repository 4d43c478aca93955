import type { FileHandle } from 'node:fs/promises';
import { contentTypeOf, HEAD_BYTES } from './content-type.ts';
import { NotText } from './not-text.ts';

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
