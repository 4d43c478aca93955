import { constants, fstatSync } from 'node:fs';
import { mkdir, open, readdir, readFile, rm, rmdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { KeyedSemaphore } from '@tendon/core';
import { holdFolder, type HeldFolder } from '../held-folder.ts';
import { withinBeneath } from './beneath.ts';
import type { Found } from './find-protected.ts';

/**
 * Empty folders and files in a person's workspace that hold the names of what is protected and not there: nothing can be mounted
 * where nothing is. Invariants:
 * 1. What is made is written down before, in the folder of the incarnation that needs it, and removed with that folder, also by
 *    the next server after a crash.
 * 2. Removing one takes the mount on it away from every sandbox: while another incarnation has it written down it stays.
 * 3. Only what is as it was made is removed.
 */
export interface HeldPlace {
  /** On the host, absolute. */
  readonly path: string;
  readonly kind: 'folder' | 'file';
  readonly text?: string;
}

type Missing = Extract<Found, { state: 'missing' }>;

const NOTE = 'held-places.json';
/** Of whom the folder is: nothing can be made there from inside either. */
const CLOSED = ['EACCES', 'EPERM', 'EROFS'];
const turns = new KeyedSemaphore(1);

/**
 * Makes what is missing, and notes with it which of `there` another sandbox has made. Resolves with the paths that are there now.
 * `hostFolder` is the incarnation's own.
 */
export async function holdPlaces(
  held: HeldFolder,
  {
    missing,
    there,
    stateRoot,
    hostFolder,
  }: { missing: readonly Missing[]; there: readonly string[]; stateRoot: string; hostFolder: string },
): Promise<readonly string[]> {
  return inTurn(stateRoot, async () => {
    const others = await notedBelow(stateRoot, hostFolder);
    const shared = others.filter(({ path }) => there.some((each) => join(held.path, each) === path));
    const made = missing.map(({ path, place }): HeldPlace => ({ ...place, path: join(held.path, path) }));
    if (shared.length + made.length === 0) return [];
    await mkdir(hostFolder, { recursive: true, mode: 0o755 });
    await writeFile(join(hostFolder, NOTE), JSON.stringify([...shared, ...made]), { mode: 0o600 });
    const done: string[] = [];
    for (const one of missing) if (await makePlace(held, one)) done.push(one.path);
    return done;
  });
}

/** Removes those that no other incarnation needs. Never rejects: what cannot be removed is an empty folder. */
export async function releasePlaces(stateRoot: string, hostFolder: string): Promise<void> {
  const note = join(hostFolder, NOTE);
  const own = await noted(note);
  if (own.length === 0) return;
  await inTurn(stateRoot, async () => {
    const others = await notedBelow(stateRoot, hostFolder);
    for (const place of own) if (!others.some(({ path }) => path === place.path)) await removePlace(place).catch(() => {});
    await rm(note, { force: true });
  });
}

async function makePlace(held: HeldFolder, { path, place }: Missing): Promise<boolean> {
  const { uid, gid } = fstatSync(held.descriptor());
  try {
    await withinBeneath(held, dirname(path), async (folder) => {
      const at = join(folder, basename(path));
      if (place.kind === 'folder') await mkdir(at, 0o755);
      else await writeFile(at, place.text, { flag: 'wx', mode: 0o644 });
      await using made = await open(at, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
      if (process.getuid?.() === 0) await made.chown(uid, gid);
    });
    return true;
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (CLOSED.includes(code)) return false;
    if (code === 'EEXIST') return true; // somebody was faster, and it is protected as it is
    throw new Error(`the place of ${path} cannot be held in the workspace: ${(error as Error).message}`, { cause: error });
  }
}

async function removePlace({ path, kind, text = '' }: HeldPlace): Promise<void> {
  const folder = await holdFolder(dirname(path));
  try {
    const at = join(folder.place, basename(path));
    if (kind === 'folder') return await rmdir(at);
    await using file = await open(at, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const { size } = await file.stat();
    if (size === Buffer.byteLength(text) && (await file.readFile('utf8')) === text) await rm(at);
  } finally {
    folder.close();
  }
}

async function notedBelow(stateRoot: string, except: string): Promise<readonly HeldPlace[]> {
  const notes: string[] = [];
  for (const sandbox of await readdir(stateRoot).catch(() => []))
    for (const incarnation of await readdir(join(stateRoot, sandbox)).catch(() => []))
      notes.push(join(stateRoot, sandbox, incarnation, 'host'));
  return (await Promise.all(notes.filter((folder) => folder !== except).map((folder) => noted(join(folder, NOTE))))).flat();
}

async function noted(path: string): Promise<readonly HeldPlace[]> {
  const text = await readFile(path, 'utf8').catch(() => '[]');
  try {
    return JSON.parse(text) as readonly HeldPlace[];
  } catch {
    return []; // cut off while it was written: nothing was made
  }
}

async function inTurn<T>(stateRoot: string, work: () => Promise<T>): Promise<T> {
  const release = await turns.acquire(stateRoot, new AbortController().signal);
  try {
    return await work();
  } finally {
    release?.();
  }
}
