import { createReadStream, type ReadStream } from 'node:fs';
import { mkdir, readdir, stat } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { dirname, join } from 'node:path';
import { resolvePath } from './resolve-path.ts';
import { writeAtomically } from './write-atomically.ts';

/** Files for the host's doors. Failures reject with a message that can be shown. */
export interface SandboxFiles {
  /** Folders first, each kind by name; folders end in `/`. */
  list(path: string): Promise<string[]>;
  open(path: string): Promise<{ readonly stream: ReadStream; readonly bytes: number }>;
  write(path: string, body: IncomingMessage): Promise<void>;
}

const MAX_UPLOAD_BYTES = 1024 * 1024 * 1024;
const MAX_ENTRIES = 20_000;

export function createSandboxFiles(workspace: string): SandboxFiles {
  return {
    async list(path) {
      const folder = resolvePath(workspace, path);
      const entries = await readdir(folder, { withFileTypes: true });
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
      const found = await stat(full);
      if (!found.isFile()) throw new Error(`${full} is not a file`);
      return { stream: createReadStream(full, { end: Math.max(0, found.size - 1) }), bytes: found.size };
    },
    async write(path, body) {
      const full = resolvePath(workspace, path);
      await mkdir(dirname(full), { recursive: true });
      await writeAtomically(full, async (file) => {
        let total = 0;
        for await (const chunk of body as AsyncIterable<Buffer>) {
          total += chunk.length;
          if (total > MAX_UPLOAD_BYTES) throw new Error(`more than ${MAX_UPLOAD_BYTES} bytes`);
          await file.write(chunk);
        }
      });
    },
  };
}

async function isDirectory(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() === true;
}
