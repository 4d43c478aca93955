import { closeSync, readSync, writeSync } from 'node:fs';
import { wholeCharacters } from '../text/utf8.ts';
import type { OutputFile } from './output-folder.ts';

/**
 * The output of one effect, to be read from any offset while it still grows. Small output stays in memory; from
 * `memoryBytes` on it is in a file, which stays when the spool is closed.
 */
export interface Spool {
  readonly bytes: number;
  /** Of the file, where there is one. */
  readonly path: string | undefined;
  /** False when nothing more is stored. */
  append(output: string | Buffer): boolean;
  /** At most `maxBytes` from `offset`, cut between characters; empty when there is nothing (yet). */
  read(offset: number, maxBytes: number): Buffer;
  /** Nothing more will come. */
  end(): void;
  /** Nothing will be read any more. */
  close(): void;
}

const WRITE_BYTES = 256 * 1024;

export function createSpool(memoryBytes: number, createFile: () => OutputFile | undefined): Spool {
  let memory = Buffer.allocUnsafe(memoryBytes); // what follows what is in the file
  let inMemory = 0;
  let inFile = 0;
  let file: OutputFile | undefined;
  let isFull = false;

  /** A full disk, or a file that has its size, ends what is stored and nothing else. */
  function flush(): void {
    file ??= createFile();
    const space = Math.min(inMemory, (file?.maxBytes ?? 0) - inFile);
    if (file && writeAll(file.fd, memory.subarray(0, space))) {
      inFile += space;
      isFull = space < inMemory;
      inMemory = 0;
      if (memory.length < WRITE_BYTES) memory = Buffer.allocUnsafe(WRITE_BYTES);
    } else isFull = true;
  }

  return {
    get bytes() {
      return inFile + inMemory;
    },
    get path() {
      return file?.path;
    },
    append(output) {
      let rest = typeof output === 'string' ? Buffer.from(output) : output;
      while (rest.length > 0 && !isFull) {
        const copied = rest.copy(memory, inMemory);
        inMemory += copied;
        rest = rest.subarray(copied);
        if (inMemory === memory.length) flush();
      }
      return !isFull;
    },
    read(offset, maxBytes) {
      if (offset >= inFile) return between(Buffer.from(memory.subarray(offset - inFile, Math.min(inMemory, offset - inFile + maxBytes))));
      const chunk = Buffer.allocUnsafe(Math.min(maxBytes, inFile - offset));
      return between(chunk.subarray(0, readSync(file!.fd, chunk, 0, chunk.length, offset)));
    },
    end() {
      if (file && !isFull) flush();
    },
    close() {
      memory = Buffer.alloc(0);
      inMemory = 0;
      inFile = 0;
      isFull = true;
      if (file) closeSync(file.fd);
    },
  };
}

/** Without a character that is cut at the end. A cut one at the start stays: its offset was asked for. */
function between(chunk: Buffer): Buffer {
  return chunk.subarray(0, wholeCharacters(chunk) || chunk.length);
}

/** False where the disk does not take it. */
function writeAll(fd: number, chunk: Buffer): boolean {
  try {
    for (let written = 0; written < chunk.length;) written += writeSync(fd, chunk, written);
    return true;
  } catch {
    return false;
  }
}
