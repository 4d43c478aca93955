import { constants, type BigIntStats } from 'node:fs';
import { open, readdir, readlink, type FileHandle } from 'node:fs/promises';
import type { HeldFolder } from '../held-folder.ts';

/** What a path below a held folder is, as far as it can be followed without a link. */
export type Seen =
  | { readonly kind: 'file' | 'folder'; readonly path: string; readonly identity: string }
  /** The first part of the path that is one; `target` as it is written there. */
  | { readonly kind: 'link'; readonly path: string; readonly identity: string; readonly target: string }
  /** The first part of the path that is missing. */
  | { readonly kind: 'missing'; readonly path: string }
  /** A pipe, a socket, a device, a file in the place of a folder, or what cannot be looked at. */
  | { readonly kind: 'other'; readonly path: string };

const O_PATH = 0o10_000_000;
const AS_IT_IS = O_PATH | constants.O_NOFOLLOW;
const MAX_TEXT_BYTES = 256 * 1024;

/** Goes down step by step: whatever is exchanged for a link meanwhile leads nowhere else. */
export async function lookBeneath(held: HeldFolder, path: string): Promise<Seen> {
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
  await using file = await open(`/proc/self/fd/${found.handle.fd}`, constants.O_RDONLY | constants.O_NONBLOCK);
  if ((await file.stat()).size > MAX_TEXT_BYTES) return undefined;
  return await file.readFile('utf8');
}

/** Names in a folder, those of folders with a final slash; none where it is no folder. */
export async function listBeneath(held: HeldFolder, path: string): Promise<readonly string[]> {
  const found = await descend(held, path);
  if (!('handle' in found)) return [];
  await using at = found.handle;
  if (found.seen.kind !== 'folder') return [];
  const entries = await readdir(`/proc/self/fd/${at.fd}/.`, { withFileTypes: true }).catch(() => []);
  return entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name));
}

/** Holds the folder at a path while something is done in it; the argument is a path to it that cannot come to mean another. */
export async function withinBeneath<T>(held: HeldFolder, path: string, work: (place: string) => Promise<T>): Promise<T> {
  const found = await descend(held, path);
  if (!('handle' in found) || found.seen.kind !== 'folder') throw new Error(`${path} in the workspace is no folder any more`);
  await using at = found.handle;
  return await work(`/proc/self/fd/${at.fd}/.`);
}

type Descended = Exclude<Seen, { kind: 'file' | 'folder' }> | { readonly handle: FileHandle; readonly seen: Seen };

async function descend(held: HeldFolder, path: string): Promise<Descended> {
  let handle = await open(held.place, AS_IT_IS | constants.O_DIRECTORY);
  let seen = seenBy(await handle.stat({ bigint: true }), '');
  const parts = path.split('/').filter((part) => part !== '');
  for (const [index, part] of parts.entries()) {
    const at = parts.slice(0, index + 1).join('/');
    await using above = handle;
    const below = `/proc/self/fd/${above.fd}/${part}`;
    const next = await open(below, AS_IT_IS).catch((error: NodeJS.ErrnoException) => error);
    if (next instanceof Error) return { kind: next.code === 'ENOENT' ? 'missing' : 'other', path: at };
    handle = next;
    seen = seenBy(await next.stat({ bigint: true }), at);
    if (seen.kind === 'folder' || (seen.kind === 'file' && index === parts.length - 1)) continue;
    await next.close();
    if (seen.kind !== 'link') return { kind: 'other', path: at };
    return { ...seen, target: await readlink(below).catch(() => '') };
  }
  return { handle, seen };
}

function seenBy(stat: BigIntStats, path: string): Seen {
  const identity = `${stat.dev}:${stat.ino}`;
  if (stat.isDirectory()) return { kind: 'folder', path, identity };
  if (stat.isFile()) return { kind: 'file', path, identity };
  return stat.isSymbolicLink() ? { kind: 'link', path, identity, target: '' } : { kind: 'other', path };
}
