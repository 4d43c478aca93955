import { constants, type Dirent, type Stats } from 'node:fs';
import { lstat, open, opendir } from 'node:fs/promises';

export interface FolderSize {
  /** What it takes on the disk: each entry at least 4 KiB. */
  readonly bytes: number;
  readonly entries: number;
  /** False: there was more than could be looked at. */
  readonly isComplete: boolean;
}

export interface MeasureOptions {
  readonly maxEntries: number;
  readonly deadlineMs: number;
  /** Only the names are looked at, and each counts as an entry without bytes: many times faster. */
  readonly namesOnly?: boolean;
}

const MAX_DEPTH = 128;
/** A disk has only so many entries: one without any bytes takes its share too. */
export const MIN_ENTRY_BYTES = 4096;

/**
 * What a folder that somebody else writes takes on the disk. Links are never followed, not even one that is put in a folder's
 * place at the last moment: each folder is opened as a folder or not at all, and looked into through its descriptor. A file with
 * several names counts once.
 */
export async function measureFolder(path: string, { maxEntries, deadlineMs, namesOnly = false }: MeasureOptions): Promise<FolderSize> {
  const end = performance.now() + deadlineMs;
  const seen = new Set<string>();
  let [bytes, entries, isComplete] = [0, 0, true];

  function count(entry: Stats): void {
    entries += 1;
    if (entry.nlink > 1 && !entry.isDirectory()) {
      const id = `${entry.dev}:${entry.ino}`;
      if (seen.has(id)) return;
      seen.add(id);
    }
    bytes += takenBy(entry);
  }

  async function isFolder(here: string, entry: Dirent): Promise<boolean> {
    if (namesOnly) {
      entries += 1;
      bytes += MIN_ENTRY_BYTES;
      return entry.isDirectory();
    }
    const found = await lstat(`${here}/${entry.name}`).catch(() => undefined);
    if (found !== undefined) count(found); // else it is gone meanwhile
    return found?.isDirectory() ?? false;
  }

  async function look(folder: string, depth: number): Promise<void> {
    if (depth > MAX_DEPTH) return void (isComplete = false);
    const handle = await open(folder, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW).catch(() => undefined);
    if (handle === undefined) return;
    await using opened = handle;
    const here = process.platform === 'linux' ? `/proc/self/fd/${opened.fd}` : folder;
    for await (const entry of await opendir(here, { bufferSize: namesOnly ? 4096 : 256 })) {
      if (entries >= maxEntries || performance.now() > end) return void (isComplete = false);
      if (await isFolder(here, entry)) await look(`${here}/${entry.name}`, depth + 1);
    }
  }

  await look(path, 0);
  return { bytes, entries, isComplete };
}

export function takenBy({ blocks }: Stats): number {
  return Math.max(blocks * 512, MIN_ENTRY_BYTES);
}
