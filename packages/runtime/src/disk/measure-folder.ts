import { constants, type Stats } from 'node:fs';
import { lstat, open, opendir } from 'node:fs/promises';

export interface FolderSize {
  /** What it takes on the disk. */
  readonly bytes: number;
  readonly entries: number;
  /** False: there was more than could be looked at. */
  readonly isComplete: boolean;
}

export interface MeasureOptions {
  readonly maxEntries: number;
  readonly deadlineMs: number;
}

const MAX_DEPTH = 128;

/**
 * What a folder that somebody else writes takes on the disk. Links are never followed, not even one that is put in a folder's
 * place at the last moment: each folder is opened as a folder or not at all, and looked into through its descriptor. A file with
 * several names counts once.
 */
export async function measureFolder(path: string, { maxEntries, deadlineMs }: MeasureOptions): Promise<FolderSize> {
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
    bytes += entry.blocks * 512;
  }

  async function look(folder: string, depth: number): Promise<void> {
    if (depth > MAX_DEPTH) return void (isComplete = false);
    const handle = await open(folder, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW).catch(() => undefined);
    if (handle === undefined) return;
    await using opened = handle;
    const here = process.platform === 'linux' ? `/proc/self/fd/${opened.fd}` : folder;
    for await (const entry of await opendir(here, { bufferSize: 256 })) {
      if (entries >= maxEntries || performance.now() > end) return void (isComplete = false);
      const found = await lstat(`${here}/${entry.name}`).catch(() => undefined);
      if (found === undefined) continue; // gone meanwhile
      count(found);
      if (found.isDirectory()) await look(`${here}/${entry.name}`, depth + 1);
    }
  }

  await look(path, 0);
  return { bytes, entries, isComplete };
}
