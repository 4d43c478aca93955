import { closeSync, constants, fstatSync, openSync, type Dirent, type Stats } from 'node:fs';
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

/** Folders that are held open at once, each with those above it. */
const MAX_HELD = 128;
/** A disk has only so many entries: one without any bytes takes its share too. */
export const MIN_ENTRY_BYTES = 4096;

/**
 * What a folder that somebody else writes takes on the disk. Links are never followed, not even one that is put in a folder's
 * place at the last moment: each folder is opened as a folder or not at all, and looked into through its descriptor. A file with
 * several names counts once.
 */
export async function measureFolder(path: string, options: MeasureOptions): Promise<FolderSize> {
  const measurement = new Measurement(options);
  await measurement.look(path, 0);
  return measurement.result();
}

class Measurement {
  readonly #end: number;
  readonly #maxEntries: number;
  readonly #namesOnly: boolean;
  /** Of files with several names. */
  readonly #seen = new Set<string>();
  #bytes = 0;
  #entries = 0;
  #isComplete = true;

  constructor({ maxEntries, deadlineMs, namesOnly = false }: MeasureOptions) {
    this.#end = performance.now() + deadlineMs;
    this.#maxEntries = maxEntries;
    this.#namesOnly = namesOnly;
  }

  result(): FolderSize {
    return { bytes: this.#bytes, entries: this.#entries, isComplete: this.#isComplete };
  }

  async look(folder: string, depth: number): Promise<void> {
    if (depth > MAX_HELD) return this.#lookDeeper(folder);
    const handle = await open(folder, AS_FOLDER).catch(() => undefined);
    if (handle === undefined) return;
    await using opened = handle;
    const here = process.platform === 'linux' ? `/proc/self/fd/${opened.fd}` : folder;
    for await (const entry of await opendir(here, { bufferSize: this.#namesOnly ? 4096 : 256 })) {
      if (this.#isOver()) return void (this.#isComplete = false);
      if (await this.#isFolder(here, entry)) await this.look(`${here}/${entry.name}`, depth + 1);
    }
  }

  /** Holds one folder at a time, however deep: goes back by `..`, and gives up where that is another folder by now. */
  async #lookDeeper(folder: string): Promise<void> {
    if (process.platform !== 'linux') return void (this.#isComplete = false);
    const above: { readonly id: string; readonly folders: string[] }[] = [];
    for (let opened = openNow(folder); opened !== undefined;) {
      const left = opened;
      opened = undefined;
      try {
        const here = `/proc/self/fd/${left}`;
        const id = idOf(fstatSync(left));
        if (above.at(-1)?.id !== id) above.push({ id, folders: await this.#foldersIn(here) });
        const { folders } = above.at(-1)!;
        while (opened === undefined && folders.length > 0) opened = openNow(`${here}/${folders.pop()!}`);
        if (opened !== undefined) continue;
        above.pop();
        if (above.length > 0) opened = openNow(`${here}/..`);
      } finally {
        closeSync(left);
      }
      if (above.length === 0) return;
      if (opened !== undefined && idOf(fstatSync(opened)) === above.at(-1)!.id) continue;
      if (opened !== undefined) closeSync(opened);
      return void (this.#isComplete = false);
    }
  }

  async #foldersIn(here: string): Promise<string[]> {
    const found: string[] = [];
    for await (const entry of await opendir(here)) {
      if (this.#isOver()) {
        this.#isComplete = false;
        break;
      }
      if (await this.#isFolder(here, entry)) found.push(entry.name);
    }
    return found;
  }

  #isOver(): boolean {
    return this.#entries >= this.#maxEntries || performance.now() > this.#end;
  }

  async #isFolder(here: string, entry: Dirent): Promise<boolean> {
    if (this.#namesOnly) {
      this.#entries += 1;
      this.#bytes += MIN_ENTRY_BYTES;
      return entry.isDirectory();
    }
    const found = await lstat(`${here}/${entry.name}`).catch(() => undefined);
    if (found !== undefined) this.#count(found); // else it is gone meanwhile
    return found?.isDirectory() ?? false;
  }

  #count(entry: Stats): void {
    this.#entries += 1;
    if (entry.nlink > 1 && !entry.isDirectory()) {
      const id = idOf(entry);
      if (this.#seen.has(id)) return;
      this.#seen.add(id);
    }
    this.#bytes += takenBy(entry);
  }
}

const AS_FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** In this thread: what waits for another costs many times as much, and a deep tree has thousands. */
function openNow(path: string): number | undefined {
  try {
    return openSync(path, AS_FOLDER);
  } catch {
    return undefined; // gone meanwhile, or another thing by now
  }
}

function idOf({ dev, ino }: Stats): string {
  return `${dev}:${ino}`;
}

export function takenBy({ blocks }: Stats): number {
  return Math.max(blocks * 512, MIN_ENTRY_BYTES);
}
