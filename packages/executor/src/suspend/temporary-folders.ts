import { cp, lstat, mkdir, readdir, rm } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { measureFolder } from '@tendon/protocol/node';

const MAX_BYTES = 256 * 1024 * 1024;
const MAX_ENTRIES = 20_000;
const DEADLINE_MS = 10_000;
const COPY = { recursive: true, preserveTimestamps: true, verbatimSymlinks: true, force: true } as const;

/** Copies what lies in folders that end with this executor. Throws when it is too much, or cannot be read. */
export async function saveFolders(folders: readonly string[], into: string): Promise<void> {
  await rm(into, { recursive: true, force: true });
  const sizes = await Promise.all(folders.map((folder) => measureFolder(folder, { maxEntries: MAX_ENTRIES, deadlineMs: DEADLINE_MS })));
  const bytes = sizes.reduce((sum, size) => sum + size.bytes, 0);
  if (bytes > MAX_BYTES || sizes.some(({ isComplete }) => !isComplete)) throw new Error(`there is too much in ${folders.join(', ')}`);
  for (const [index, folder] of folders.entries()) {
    for (const name of await readdir(folder)) {
      await mkdir(join(into, String(index)), { recursive: true, mode: 0o700 });
      await cp(join(folder, name), join(into, String(index), name), { ...COPY, filter: isKept });
    }
  }
}

/** Puts them back. What cannot be is left out: a sandbox that wakes is worth more. */
export async function restoreFolders(from: string, folders: readonly string[]): Promise<void> {
  for (const [index, folder] of folders.entries()) {
    const saved = join(from, String(index));
    if (!existsSync(saved)) continue;
    for (const name of await readdir(saved)) await cp(join(saved, name), join(folder, name), COPY).catch(() => {});
  }
}

/** Sockets and pipes have nobody at their other end any more. */
async function isKept(path: string): Promise<boolean> {
  const entry = await lstat(path);
  return entry.isFile() || entry.isDirectory() || entry.isSymbolicLink();
}
