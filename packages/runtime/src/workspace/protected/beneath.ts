import { constants, type BigIntStats } from 'node:fs';
import { lstat, open, readdir, readlink, type FileHandle } from 'node:fs/promises';
import type { HeldFolder } from '../held-folder.ts';

/** What a path below a held folder is, as far as it can be followed without a link. */
export type FoundPath =
  | { readonly kind: 'file' | 'folder'; readonly path: string; readonly identity: string }
  /** The first part of the path that is one; `target` as it is written there. */
  | { readonly kind: 'link'; readonly path: string; readonly identity: string; readonly target: string }
  /** The first part of the path that is missing. */
  | { readonly kind: 'missing'; readonly path: string }
  /** A pipe, a socket, a device, a file in the place of a folder, or what lies in a folder that is closed to us and to agents. */
  | { readonly kind: 'other'; readonly path: string };

const O_PATH = 0o10_000_000;
const AS_IT_IS = O_PATH | constants.O_NOFOLLOW;
const MAX_TEXT_BYTES = 256 * 1024;

/**
 * Goes down step by step: whatever is exchanged for a link meanwhile leads nowhere else. As all here it rejects, in words, where a
 * folder or file is closed that an agent could open again: it may hide what must be protected.
 */
export async function lookBeneath(held: HeldFolder, path: string): Promise<FoundPath> {
  const found = await descend(held, path);
  if (!('handle' in found)) return found;
  await found.handle.close();
  return found.seen;
}

/** The text of a small regular file; `undefined` for anything else. A pipe is not waited for. */
export async function readBeneath(held: HeldFolder, path: string): Promise<string | undefined> {
  const found = await descend(held, path);
  if (!('handle' in found)) return undefined;
  await using _at = found.handle;
  if (found.seen.kind !== 'file') return undefined;
  const flags = constants.O_RDONLY | constants.O_NONBLOCK;
  const opened = await open(`/proc/self/fd/${found.handle.fd}`, flags).catch((error: unknown) => refuseHidden(error, path, found));
  if (opened === undefined) return undefined;
  await using file = opened;
  if ((await file.stat()).size > MAX_TEXT_BYTES) return undefined;
  return await file.readFile('utf8');
}

/** Names in a folder, those of folders with a final slash; none where it is no folder. */
export async function listBeneath(held: HeldFolder, path: string): Promise<readonly string[]> {
  const found = await descend(held, path);
  if (!('handle' in found)) return [];
  await using at = found.handle;
  if (found.seen.kind !== 'folder') return [];
  const listed = readdir(`/proc/self/fd/${at.fd}/.`, { withFileTypes: true });
  const entries = (await listed.catch((error: unknown) => refuseHidden(error, path, found))) ?? [];
  return entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name));
}

/** When each of these in a folder was made, in nanoseconds, which nobody can set; 0 where that is not known. */
export async function birthsBeneath(held: HeldFolder, path: string, names: readonly string[]): Promise<readonly bigint[]> {
  const found = await descend(held, path);
  if (!('handle' in found)) return names.map(() => 0n);
  await using at = found.handle;
  const births = names.map(async (name) => {
    const stat = await lstat(`/proc/self/fd/${at.fd}/${name}`, { bigint: true }).catch(() => undefined);
    return stat?.birthtimeNs ?? 0n;
  });
  return await Promise.all(births);
}

/** Holds the folder at a path while something is done in it; the argument is a path to it that cannot come to mean another. */
export async function withinBeneath<T>(held: HeldFolder, path: string, work: (place: string) => Promise<T>): Promise<T> {
  const found = await descend(held, path);
  const gone = (): Error => new Error(`${path} in the workspace is no folder any more`);
  if (!('handle' in found)) throw gone();
  await using at = found.handle;
  if (found.seen.kind !== 'folder') throw gone();
  return await work(`/proc/self/fd/${at.fd}/.`);
}

interface At {
  readonly handle: FileHandle;
  readonly seen: FoundPath;
  readonly uid: bigint;
}

type Descended = Exclude<FoundPath, { kind: 'file' | 'folder' }> | At;

async function descend(held: HeldFolder, path: string): Promise<Descended> {
  let here = await openAt(held.place, AS_IT_IS | constants.O_DIRECTORY, '');
  const parts = path.split('/').filter((part) => part !== '');
  for (const [index, part] of parts.entries()) {
    const at = parts.slice(0, index + 1).join('/');
    const above = here;
    await using folder = above.handle;
    const below = `/proc/self/fd/${folder.fd}/${part}`;
    const next = await openAt(below, AS_IT_IS, at).catch((error: NodeJS.ErrnoException) => error);
    if (next instanceof Error) {
      if (next.code === 'ENOENT') return { kind: 'missing', path: at };
      refuseHidden(next, parts.slice(0, index).join('/'), above);
      return { kind: 'other', path: at };
    }
    here = next;
    const { seen } = next;
    if (seen.kind === 'folder' || (seen.kind === 'file' && index === parts.length - 1)) continue;
    await next.handle.close();
    if (seen.kind !== 'link') return { kind: 'other', path: at };
    return { ...seen, target: await readlink(below).catch(() => '') };
  }
  return here;
}

async function openAt(path: string, flags: number, at: string): Promise<At> {
  const handle = await open(path, flags);
  try {
    const stat = await handle.stat({ bigint: true });
    return { handle, seen: seenBy(stat, at), uid: stat.uid };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Returns where nothing is hidden from us that agents could reach: they are of our own user, unless we are root. */
function refuseHidden(error: unknown, path: string, { uid }: At): undefined {
  const { code = '' } = error as NodeJS.ErrnoException;
  const user = process.getuid?.() ?? 0;
  if (code === 'ENOENT' || code === 'ENAMETOOLONG') return undefined; // removed meanwhile, and what no file can be called
  if (code === 'EACCES' && user !== 0 && uid !== BigInt(user)) return undefined;
  const what = path === '' ? 'the workspace' : `${path} in the workspace`;
  throw new Error(`${what} cannot be read (${code}), and may hide what must be protected: make it readable, or move it away`, {
    cause: error,
  });
}

function seenBy(stat: BigIntStats, path: string): FoundPath {
  const identity = `${stat.dev}:${stat.ino}`;
  if (stat.isDirectory()) return { kind: 'folder', path, identity };
  if (stat.isFile()) return { kind: 'file', path, identity };
  return stat.isSymbolicLink() ? { kind: 'link', path, identity, target: '' } : { kind: 'other', path };
}
