import { constants } from 'node:fs';
import { open } from 'node:fs/promises';

const DECODER = new TextDecoder('utf-8', { fatal: true });

/**
 * The text of a file from outside. Rejects with a user-facing error, and never waits: not for a pipe or a device, not for a file
 * that goes on growing. A link is not followed: it may lead to what its maker cannot read and who imports can.
 */
export async function readPlainFile(path: string, maxBytes: number): Promise<string> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch((cause: unknown) => {
    throw new Error((cause as NodeJS.ErrnoException).code === 'ELOOP' ? 'it is a link' : 'it cannot be read', { cause });
  });
  try {
    const found = await file.stat();
    if (!found.isFile()) throw new Error('it is not a file');
    if (found.size > maxBytes) throw new Error(`it is larger than ${Math.floor(maxBytes / 1024 / 1024)} MB`);
    const bytes = Buffer.alloc(found.size);
    let length = 0;
    while (length < bytes.length) {
      const { bytesRead } = await file.read(bytes, length, bytes.length - length, length);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    return DECODER.decode(bytes.subarray(0, length));
  } catch (cause) {
    throw (cause as NodeJS.ErrnoException).code === 'ERR_ENCODING_INVALID_ENCODED_DATA' ? new Error('it is not UTF-8', { cause }) : cause;
  } finally {
    await file.close();
  }
}

/** The same as JSON. What is wrong with it is not quoted: it may be anything, also a secret. */
export async function readPlainJson(path: string, maxBytes: number): Promise<unknown> {
  return parsedJson(await readPlainFile(path, maxBytes));
}

export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new Error('it is not JSON');
  }
}
