import { closeSync, constants, fstatSync, lstatSync, mkdirSync, openSync, readdirSync, readSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { OUTPUT_LIMITS, type OutputLimits } from '@tendon/protocol/executor-api';
import { textOf } from '../shell/terminal/bounded-text.ts';

/**
 * Stores long outputs whole, one file an action, for the agent's own commands and for a client that downloads one; the host puts other
 * long results there. Owns
 * the folder: the oldest files go when there are too many bytes or files. The agent can write there too, so nothing in it is
 * believed, and nothing is written through a link.
 */
export interface OutputFolder {
  /** What is not longer needs no file. */
  readonly fromBytes: number;
  /** For one more: the oldest go. */
  makeRoom(): void;
  /** Nothing when it cannot be made. */
  create(key: string): OutputFile | undefined;
  /** At most so much of an action's file, which another incarnation may have made; nothing where there is none. */
  read(key: string, offset: number, atMost: number): Buffer | undefined;
}

export interface OutputFile {
  readonly fd: number;
  readonly path: string;
  readonly maxBytes: number;
}

const MAX_FILES = 1000;
const FROM_BYTES = 24 * 1024;

export function openOutputFolder(folder: string, { chars, fileBytes, folderBytes }: OutputLimits = OUTPUT_LIMITS): OutputFolder {
  /** The last part of a key is the id of the action. */
  const pathOf = (key: string): string => join(folder, `${key.slice(key.lastIndexOf(':') + 1).replaceAll(/[^\w-]/g, '_')}.txt`);

  function removeOldest(): void {
    const files = readdirSync(folder)
      .map((name) => ({ path: join(folder, name), ...sizeOf(join(folder, name)) }))
      .toSorted((a, b) => b.changedMs - a.changedMs);
    let bytes = 0;
    for (const [index, file] of files.entries()) {
      bytes += file.bytes;
      if (bytes > folderBytes - fileBytes || index >= MAX_FILES) rmSync(file.path, { recursive: true, force: true });
    }
  }

  return {
    // Less than the text of an observation: what is left out of that is in a file.
    fromBytes: Math.min(FROM_BYTES, textOf(chars)),
    makeRoom() {
      try {
        if (realpathSync(folder) === folder) removeOldest();
      } catch {
        // not there yet
      }
    },
    create(key) {
      try {
        mkdirSync(folder, { recursive: true, mode: 0o700 });
        if (realpathSync(folder) !== folder) return undefined;
        removeOldest();
        const path = pathOf(key);
        rmSync(path, { force: true });
        return { fd: openSync(path, 'wx+', 0o600), path, maxBytes: fileBytes };
      } catch {
        return undefined; // a full disk, or an agent that made something else of the folder
      }
    },
    read(key, offset, atMost) {
      try {
        if (realpathSync(folder) !== folder) return undefined;
        // The agent may have put a link or a pipe there, which is no output, and the pipe would never open.
        const fd = openSync(pathOf(key), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
        try {
          if (!fstatSync(fd).isFile()) return undefined;
          const chunk = Buffer.allocUnsafe(atMost);
          return chunk.subarray(0, readSync(fd, chunk, 0, atMost, offset));
        } finally {
          closeSync(fd);
        }
      } catch {
        return undefined;
      }
    },
  };
}

function sizeOf(path: string): { readonly bytes: number; readonly changedMs: number } {
  const { size, mtimeMs } = lstatSync(path);
  return { bytes: size, changedMs: mtimeMs };
}
