import { constants, fstatSync } from 'node:fs';
import { mkdir, open, readdir, rm, rmdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { KeyedMutex } from '@tendon/core';
import { INCARNATION } from '../../incarnation.ts';
import { holdFolder, type HeldFolder } from '../held-folder.ts';
import { withinBeneath } from './beneath.ts';
import type { Found } from './find-protected.ts';

/**
 * Empty folders and files in a person's workspace that hold the names of missing protected paths: a mount needs something to be
 * mounted on.
 *
 * HPL1  A placeholder is recorded before it is made, in the folder of the incarnation that needs it, and removed with that folder, also
 *       by the next server after a crash.
 * HPL2  Removing one also removes the mount on it in every sandbox, so it stays while another incarnation has recorded it.
 * HPL3  Only an unchanged placeholder is removed.
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
const MAX_NOTE_BYTES = 16 * 1024 * 1024;
const turns = new KeyedMutex();

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
  return turns.run(stateRoot, async () => {
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
  await turns.run(stateRoot, async () => {
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

/** Beside the incarnations lie folders that agents write: what is in those is no note. */
async function notedBelow(stateRoot: string, except: string): Promise<readonly HeldPlace[]> {
  const notes: string[] = [];
  for (const sandbox of await incarnationsIn(stateRoot))
    for (const incarnation of await incarnationsIn(join(stateRoot, sandbox))) notes.push(join(stateRoot, sandbox, incarnation, 'host'));
  return (await Promise.all(notes.filter((folder) => folder !== except).map((folder) => noted(join(folder, NOTE))))).flat();
}

/** Sandboxes are named alike. */
async function incarnationsIn(folder: string): Promise<readonly string[]> {
  return (await readdir(folder).catch(() => [])).filter((name) => INCARNATION.test(name));
}

/** Of something that is no note, nothing; of one that was cut off while it was written too: nothing was made. */
async function noted(path: string): Promise<readonly HeldPlace[]> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stat = await file.stat();
    if (!stat.isFile() || stat.size > MAX_NOTE_BYTES) return [];
    const places = JSON.parse(await file.readFile('utf8')) as unknown;
    return Array.isArray(places) ? places.filter(isPlace) : [];
  } catch {
    return [];
  }
}

function isPlace(value: unknown): value is HeldPlace {
  const { path, kind, text = '' } = (value ?? {}) as Readonly<Record<string, unknown>>;
  return typeof path === 'string' && (kind === 'folder' || kind === 'file') && typeof text === 'string';
}
