import { constants } from 'node:fs';
import { open } from 'node:fs/promises';

const MAX_BYTES = 256 * 1024;

/** A file of the user's own. Rejects when it is no plain file or larger than 256 KiB. */
export async function readSmall(path: string): Promise<Buffer> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stat = await file.stat();
    if (!stat.isFile()) throw new Error('it is no plain file');
    if (stat.size > MAX_BYTES) throw new Error(`it is larger than ${MAX_BYTES} bytes`);
    const buffer = Buffer.alloc(stat.size);
    const { bytesRead } = await file.read(buffer, 0, stat.size, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}
