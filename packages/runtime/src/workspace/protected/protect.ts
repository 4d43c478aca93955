import { lstatSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type HeldFolder, isWithin } from '../held-folder.ts';
import { lookBeneath } from './beneath.ts';
import { findProtected } from './find-protected.ts';
import { holdPlaces } from './held-places.ts';

/** A path below the workspace that is mounted onto itself: a mount point is neither renamed nor removed from inside. */
export interface ProtectedPath {
  readonly path: string;
  /** What lies on the way to something protected is not read-only, it only stays where it is. */
  readonly isReadOnly: boolean;
  /** `<device>:<inode>` when it was looked at. */
  readonly identity: string;
}

export interface Protection {
  /** The outer ones first. */
  readonly mounts: readonly ProtectedPath[];
  /** To something that is read-only. No mount can lie on them. */
  readonly links: readonly Pick<ProtectedPath, 'path' | 'identity'>[];
}

export const NOT_PROTECTED: Protection = { mounts: [], links: [] };

/** Where it is written down which places are held: of all sandboxes, and of this one. */
export interface PlacesNoted {
  readonly stateRoot: string;
  readonly hostFolder: string;
}

/**
 * Finds what the agents of a sandbox must not change in a person's own workspace, and holds the places of what is not there. Where
 * not everything can be mounted, `canMount` says what can: nothing else is held either.
 */
export async function protect(
  held: HeldFolder,
  names: readonly string[],
  noted: PlacesNoted,
  canMount: (path: string) => boolean = () => true,
): Promise<Protection> {
  if (names.length === 0) return NOT_PROTECTED;
  const found = (await findProtected(held, names)).filter(({ path }) => canMount(path));
  const there = found.filter((one) => one.state === 'there');
  const missing = found.filter((one) => one.state === 'missing');
  const made = await holdPlaces(held, { missing, there: there.map(({ path }) => path), ...noted });
  const readOnly = [...there, ...(await Promise.all(made.map((path) => lookBeneath(held, path)))).filter(isThere)];
  const links = found.flatMap((one) => (one.state === 'link' ? [{ path: one.path, identity: one.identity }] : []));
  return { mounts: await withPins(held, readOnly), links };
}

/** A protected path that is not what it was, on the host: who replaces it there takes the mount away, also inside. */
export function findReplaced(held: HeldFolder, { mounts, links }: Protection): string | undefined {
  return [...mounts, ...links].find(({ path, identity }) => {
    try {
      const now = lstatSync(join(held.place, path), { bigint: true });
      return `${now.dev}:${now.ino}` !== identity;
    } catch {
      return true; // there is no way to it any more, whatever stands in it
    }
  })?.path;
}

function isThere(seen: Awaited<ReturnType<typeof lookBeneath>>): seen is Extract<typeof seen, { kind: 'file' | 'folder' }> {
  return seen.kind === 'file' || seen.kind === 'folder';
}

/** What is read-only, without what lies in another such folder, and every folder on the way to it. */
async function withPins(held: HeldFolder, readOnly: readonly { path: string; identity: string }[]): Promise<readonly ProtectedPath[]> {
  const outermost = readOnly.filter(({ path }) => !readOnly.some((other) => other.path !== path && isWithin(`/${path}`, `/${other.path}`)));
  const mounts = new Map<string, ProtectedPath>();
  for (const { path, identity } of outermost) mounts.set(path, { path, identity, isReadOnly: true });
  for (const { path } of outermost) {
    for (let above = dirname(path); above !== '.'; above = dirname(above)) {
      const seen = mounts.has(above) ? undefined : await lookBeneath(held, above);
      if (seen?.kind === 'folder') mounts.set(above, { path: above, identity: seen.identity, isReadOnly: false });
    }
  }
  return [...mounts.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1));
}
