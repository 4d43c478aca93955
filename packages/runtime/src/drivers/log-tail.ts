import { open } from 'node:fs/promises';

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
