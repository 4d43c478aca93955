import type { FileHandle } from 'node:fs/promises';

export interface Section {
  readonly text: string;
  /** There is more of what was asked for than `maxBytes`. */
  readonly isClipped: boolean;
  /** Lines that were gone through: all of the file's when the section is not clipped and ends with the file. */
  readonly lines: number;
}

const CHUNK_BYTES = 1024 * 1024;
const NEWLINE = 10;

/** Lines `first` to `last`, counted from 1, inclusive, of a UTF-8 file that is too long to be held in memory. */
export async function linesOfHugeFile(file: FileHandle, first: number, last: number, maxBytes: number): Promise<Section> {
  const kept: Buffer[] = [];
  let bytes = 0;
  let line = 1;
  for (let position = 0; ;) {
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(CHUNK_BYTES), 0, CHUNK_BYTES, position);
    if (bytesRead === 0) return { text: Buffer.concat(kept).toString('utf8'), isClipped: false, lines: line };
    position += bytesRead;
    const chunk = buffer.subarray(0, bytesRead);
    for (let at = 0; at < chunk.length;) {
      const newline = chunk.indexOf(NEWLINE, at);
      const end = newline < 0 ? chunk.length : newline + 1;
      if (line >= first) {
        kept.push(chunk.subarray(at, end));
        bytes += end - at;
      }
      if (bytes > maxBytes) return { text: Buffer.concat(kept).toString('utf8', 0, maxBytes), isClipped: true, lines: line };
      if (newline >= 0 && line === last) return { text: Buffer.concat(kept).toString('utf8'), isClipped: false, lines: line };
      if (newline >= 0) line += 1;
      at = end;
    }
  }
}
