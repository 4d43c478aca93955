import { isAbsolute, join, normalize, relative } from 'node:path';
import type { HeldFolder } from '../held-folder.ts';
import { birthsBeneath, listBeneath, lookBeneath } from './beneath.ts';
import { gitPaths, isGitFolder, type Wanted } from './git-paths.ts';

/** A path to be protected that is there, or the place of one that is not. */
export type Found =
  | { readonly state: 'there'; readonly path: string; readonly isFolder: boolean; readonly identity: string }
  /** A mount cannot lie on a link: what it leads to is protected, and the link can only be watched. */
  | { readonly state: 'link'; readonly path: string; readonly identity: string }
  | { readonly state: 'missing'; readonly path: string; readonly place: NonNullable<Wanted['place']> };

/** Of each depth: many in one take nothing from those below the others. */
const MAX_FOLDERS = 500;
const AT_ONCE = 16;
const MAX_PROJECTS = 40;
const MAX_DEPTH = 4;
const MAX_LINKS = 8;
/** Of all repositories together, the oldest of them first. */
const MAX_FOUND = 2000;
const NO_PROJECTS = /^(?:\.git|node_modules)\/$/;

/**
 * What agents may not change in a workspace: `names` in its top folder and in that of each repository below it, as things stand.
 * `.git` means what git obeys (`gitPaths`). An empty folder is nobody's project yet: nothing is protected there.
 */
export async function findProtected(held: HeldFolder, names: readonly string[]): Promise<readonly Found[]> {
  const found = new Map<string, Found>();
  for (const project of await projectsIn(held)) {
    const wanted = names.map(async (name) =>
      name === '.git' ? gitPaths(held, project) : [{ path: join(project, name), place: { kind: 'folder' } as const }],
    );
    for (const one of (await Promise.all(wanted)).flat()) {
      for (const each of await resolved(held, one)) found.set(each.path, each);
      if (found.size >= MAX_FOUND) return [...found.values()];
    }
  }
  return [...found.values()];
}

interface Made {
  readonly path: string;
  readonly birth: bigint;
}

/** The workspace itself and the oldest repositories in it: what an agent makes puts none that was there before it out of bounds. */
async function projectsIn(held: HeldFolder): Promise<readonly string[]> {
  const projects: Made[] = [];
  let level: readonly string[] = [''];
  for (let depth = 0; depth <= MAX_DEPTH && level.length > 0; depth += 1) {
    const next: Made[] = [];
    for (level = level.slice(0, MAX_FOLDERS); level.length > 0; level = level.slice(AT_ONCE)) {
      const folders = level.slice(0, AT_ONCE);
      const lists = await Promise.all(folders.map((folder) => listBeneath(held, folder)));
      for (const [index, folder] of folders.entries()) {
        const entries = lists[index]!;
        if (folder === '' && entries.length === 0) return [];
        const isBare = isGitFolder(entries);
        // By what makes it a repository: the folder may be older.
        const mark = entries.find((name) => name === '.git' || name === '.git/') ?? (isBare ? 'objects' : undefined);
        if (mark !== undefined) projects.push(...(await madeIn(held, folder, [mark])));
        const below = isBare ? [] : entries.filter((name) => name.endsWith('/') && !NO_PROJECTS.test(name));
        next.push(...(await madeIn(held, folder, below)));
      }
    }
    level = oldestFirst(next);
  }
  const inner = oldestFirst(projects)
    .map((mark) => join(mark, '..'))
    .filter((path) => path !== '.');
  return ['', ...inner.slice(0, MAX_PROJECTS)];
}

async function madeIn(held: HeldFolder, folder: string, entries: readonly string[]): Promise<readonly Made[]> {
  const names = entries.map((name) => name.replace(/\/$/, ''));
  const births = await birthsBeneath(held, folder, names);
  return names.map((name, index) => ({ path: join(folder, name), birth: births[index]! }));
}

function oldestFirst(made: readonly Made[]): readonly string[] {
  return made.toSorted((a, b) => (a.birth < b.birth ? -1 : Number(a.birth > b.birth))).map(({ path }) => path);
}

async function resolved(held: HeldFolder, { path, place }: Wanted, links = 0): Promise<readonly Found[]> {
  const seen = await lookBeneath(held, path);
  if (seen.kind === 'other') return [];
  if (seen.kind === 'missing') {
    if (place === undefined) return [];
    // Of a longer path its first part is held: without that there is no way to the rest.
    return [{ state: 'missing', path: seen.path, place: seen.path === path ? place : { kind: 'folder' } }];
  }
  if (seen.kind !== 'link') return [{ state: 'there', path, isFolder: seen.kind === 'folder', identity: seen.identity }];
  const { target, identity } = seen;
  const above = join(seen.path, '..');
  const leadsTo = normalize(isAbsolute(target) ? relative(held.path, target) : join(above, target));
  const rest = path.slice(seen.path.length);
  const link: Found = { state: 'link', path: seen.path, identity };
  // Nothing outside can be written from inside.
  if (leadsTo === '.' || leadsTo.startsWith('..') || links === MAX_LINKS) return [link];
  return [link, ...(await resolved(held, { path: join(leadsTo, rest), ...(place && { place }) }, links + 1))];
}
