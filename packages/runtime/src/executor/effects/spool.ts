import { closeSync, openSync, readSync, rmSync, writeSync } from 'node:fs';

/**
 * The output of one effect, to be read from any offset while it still grows. Small output stays in memory; from
 * `MEMORY_BYTES` on it is in a file, and beyond `MAX_BYTES` it is only counted.
 */
export interface Spool {
  readonly bytes: number;
  append(text: string): void;
  /** At most `maxBytes` from `offset`, cut between characters; empty when there is nothing (yet). */
  read(offset: number, maxBytes: number): Buffer;
  /** Nothing more will come: the file, if any, is kept open for reading until `discard`. */
  discard(): void;
}

const MEMORY_BYTES = 64 * 1024;
const MAX_BYTES = 16 * 1024 * 1024;

export function createSpool(path: string): Spool {
  let memory: Buffer[] = [];
  let fd: number | undefined;
  let bytes = 0;

  function toFile(): number {
    if (fd !== undefined) return fd;
    fd = openSync(path, 'w+', 0o600);
    writeAll(fd, Buffer.concat(memory));
    memory = [];
    return fd;
  }

  return {
    get bytes() {
      return bytes;
    },
    append(text) {
      const chunk = Buffer.from(text);
      if (bytes + chunk.length > MAX_BYTES) return;
      if (bytes + chunk.length > MEMORY_BYTES) writeAll(toFile(), chunk);
      else memory.push(chunk);
      bytes += chunk.length;
    },
    read(offset, maxBytes) {
      const length = Math.min(maxBytes, bytes - offset);
      if (length <= 0) return Buffer.alloc(0);
      if (fd === undefined) return between(Buffer.concat(memory).subarray(offset, offset + length));
      const chunk = Buffer.alloc(length);
      return between(chunk.subarray(0, readSync(fd, chunk, 0, length, offset)));
    },
    discard() {
      memory = [];
      bytes = 0;
      if (fd === undefined) return;
      closeSync(fd);
      fd = undefined;
      rmSync(path, { force: true });
    },
  };
}

/** Without a character that is cut at the end. A cut one at the start stays: its offset was asked for. */
function between(chunk: Buffer): Buffer {
  for (let back = 1; back <= Math.min(3, chunk.length); back += 1) {
    const byte = chunk[chunk.length - back]!;
    if (byte < 0x80) break;
    if (byte < 0xc0) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return needed > back ? chunk.subarray(0, chunk.length - back) : chunk;
  }
  return chunk;
}

function writeAll(fd: number, chunk: Buffer): void {
  for (let written = 0; written < chunk.length;) written += writeSync(fd, chunk, written);
}
