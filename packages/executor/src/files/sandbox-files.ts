import type { ReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import type { Disk } from './disk.ts';
import { TooLong, NotText } from './failures.ts';
import { outputPath, resolvePath } from './check-path.ts';

/** Files for the host. Failures reject with a message that can be shown. */
export interface SandboxFiles {
  /** Folders first, each kind by name; folders end in `/`. */
  list(path: string): Promise<string[]>;
  open(path: string): Promise<{ readonly stream: ReadStream; readonly bytes: number }>;
  write(path: string, body: IncomingMessage): Promise<void>;
}

const MAX_UPLOAD_BYTES = 1024 * 1024 * 1024;
const MAX_ENTRIES = 20_000;

/** `makeRoom`: in the folder of outputs, before one more is put there. */
export function createSandboxFiles(workspace: string, disk: Disk, makeRoom: () => void): SandboxFiles {
  return {
    async list(path) {
      const folder = resolvePath(workspace, path);
      const entries = await disk.list(folder);
      const names = await Promise.all(
        entries.slice(0, MAX_ENTRIES).map(async (entry) => {
          const isFolder = entry.isDirectory() || (entry.isSymbolicLink() && (await isDirectory(join(folder, entry.name))));
          return isFolder ? `${entry.name}/` : entry.name;
        }),
      );
      return names.toSorted(
        (a, b) => Number(b.endsWith('/')) - Number(a.endsWith('/')) || a.localeCompare(b, 'en', { sensitivity: 'base' }),
      );
    },
    async open(path) {
      const full = resolvePath(workspace, path);
      const file = await disk.open(full).catch((error: unknown) => {
        throw error instanceof NotText ? new Error(`${full} is not a file`) : error;
      });
      const { size } = await file.stat();
      return { stream: file.createReadStream({ end: Math.max(0, size - 1) }), bytes: size };
    },
    async write(path, body) {
      if (outputPath(path) !== undefined) makeRoom();
      await disk.replace(resolvePath(workspace, path), async (file) => {
        let total = 0;
        for await (const chunk of body as AsyncIterable<Buffer>) {
          total += chunk.length;
          if (total > MAX_UPLOAD_BYTES) throw new TooLong(MAX_UPLOAD_BYTES);
          await file.write(chunk);
        }
      });
    },
  };
}

async function isDirectory(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() === true;
}
