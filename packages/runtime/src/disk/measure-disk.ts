import { readdirSync, readlinkSync } from 'node:fs';
import { stat, statfs } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { measureFolder, MIN_ENTRY_BYTES, takenBy } from '@tendon/protocol/node';

/** Where a sandbox can write on the host's disk. */
export interface DiskPlace {
  /** The home, the private state, and what a container writes to its root. */
  readonly own: readonly string[];
  readonly workspace: string;
  /** What the workspace took when the conversation was given it; not counted. Null: too much to count, so none of it is. */
  readonly givenBytes: number | null;
  readonly processes: () => Promise<readonly number[]>;
}

export interface DiskUse {
  readonly bytes: number;
  /** False: there is more than was counted. */
  readonly isComplete: boolean;
}

const BOUNDS = { maxEntries: 1_000_000, deadlineMs: 10_000 };
const NAME_BOUNDS = { maxEntries: 10_000_000, deadlineMs: 10_000, namesOnly: true };
/** Once in a conversation, while its sandbox starts. */
const GIVEN_BOUNDS = { maxEntries: 200_000, deadlineMs: 2000 };
/** Where the kernel shows the files that a process has, also those without a name. */
const OPEN_FILES = ['fd', 'map_files'] as const;
const MAX_OPEN_FILES = 100_000;
const FILES_PER_TURN = 256;

/** What it takes now. A lower bound where `isComplete` is false. */
export async function measureDisk({ own, workspace, givenBytes, processes }: DiskPlace): Promise<DiskUse> {
  const folders = await Promise.all(own.map(measureAll));
  const shared = givenBytes === null ? { bytes: 0, isComplete: false } : await measureAll(workspace);
  const nameless = await measureNameless(await processes(), [...own, workspace]);
  const counted = folders.reduce((sum, { bytes }) => sum + bytes, 0) + Math.max(0, shared.bytes - (givenBytes ?? 0));
  return { bytes: counted + nameless, isComplete: shared.isComplete && folders.every(({ isComplete }) => isComplete) };
}

/** Where there is more than can be looked at, at least the names count: nobody hides behind very many files. */
async function measureAll(folder: string): Promise<DiskUse> {
  const { bytes, isComplete } = await measureFolder(folder, BOUNDS);
  if (isComplete) return { bytes, isComplete };
  return { bytes: Math.max(bytes, (await measureFolder(folder, NAME_BOUNDS)).bytes), isComplete };
}

/** Of a workspace that is given to a sandbox; null when it is too much to count. */
export async function measureGiven(workspace: string): Promise<number | null> {
  const { bytes, isComplete } = await measureFolder(workspace, GIVEN_BOUNDS);
  return isComplete ? bytes : null;
}

/**
 * Asks what is free on all the disks of these folders together. Entries that are left count as what they take, so that files without
 * bytes are seen. It is asked four times a second: which disks they are is found once, and again where one cannot be asked.
 */
export function createFreeBytes(foldersNow: () => readonly string[]): () => Promise<number> {
  let known: { readonly names: string; readonly disks: readonly string[] } | undefined;
  return async () => {
    const folders = foldersNow();
    const names = folders.join('\0');
    const disks = known?.names === names ? known.disks : await disksOf(folders);
    known = undefined;
    const free = await Promise.all(disks.map((folder) => statfs(folder)));
    known = { names, disks };
    return free.reduce((sum, { bavail, bsize, ffree }) => sum + bavail * bsize + ffree * MIN_ENTRY_BYTES, 0);
  };
}

/** One folder of each disk. */
async function disksOf(folders: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(folders.map(async (folder) => [await deviceOf(folder), folder] as const));
  return [...new Map(found.filter(([device]) => device !== undefined)).values()];
}

/** Files that were deleted and are still open, on the disks of these folders: no folder shows them. */
async function measureNameless(pids: readonly number[], folders: readonly string[]): Promise<number> {
  const devices = new Set((await Promise.all(folders.map(deviceOf))).filter((device) => device !== undefined));
  const found = new Map<string, number>();
  let looked = 0;
  for (const pid of pids) {
    for (const kind of OPEN_FILES) {
      for (const name of namesIn(`/proc/${pid}/${kind}`)) {
        if ((looked += 1) > MAX_OPEN_FILES) return sumOf(found);
        if (looked % FILES_PER_TURN === 0) await setImmediate();
        const path = `/proc/${pid}/${kind}/${name}`;
        // A process has hundreds of files with names: the link costs a fraction of what the file does.
        if (!mayBeDeleted(path)) continue;
        const file = await stat(path).catch(() => undefined);
        if (file?.isFile() && file.nlink === 0 && devices.has(file.dev)) found.set(`${file.dev}:${file.ino}`, takenBy(file));
      }
    }
  }
  return sumOf(found);
}

/** Whether it may be: a file can also be called so, and a path that is too long for the kernel to show says nothing. */
function mayBeDeleted(path: string): boolean {
  try {
    return readlinkSync(path, 'latin1').endsWith(' (deleted)');
  } catch {
    return true;
  }
}

function sumOf(sizes: ReadonlyMap<string, number>): number {
  return [...sizes.values()].reduce((sum, bytes) => sum + bytes, 0);
}

async function deviceOf(folder: string): Promise<number | undefined> {
  return (await stat(folder).catch(() => undefined))?.dev;
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // gone, or not ours to look at
  }
}
