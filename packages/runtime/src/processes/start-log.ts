import { open, stat, truncate } from 'node:fs/promises';

/** The last lines of a text file, at most `maxBytes`; empty when there is none. */
export async function logTail(path: string, maxLines = 12, maxBytes = 4096): Promise<string> {
  try {
    await using file = await open(path, 'r');
    const { size } = await file.stat();
    const length = Math.min(size, maxBytes);
    const { buffer } = await file.read(Buffer.alloc(length), 0, length, size - length);
    return buffer.toString('utf8').trimEnd().split('\n').slice(-maxLines).join('\n');
  } catch {
    return '';
  }
}

const MAX_BYTES = 1024 * 1024;

/** Empties a log that has grown too long; it is written to its end, so whoever writes goes on. */
export async function boundLog(path: string, maxBytes = MAX_BYTES): Promise<void> {
  try {
    if ((await stat(path)).size > maxBytes) await truncate(path, 0);
  } catch {
    // removed with its sandbox meanwhile
  }
}
