import { homedir } from 'node:os';
import { isAbsolute, join, normalize, relative } from 'node:path';
import type { HeldFolder } from '../held-folder.ts';
import { listBeneath, lookBeneath, readBeneath } from './beneath.ts';

/** A path below the workspace that agents may not change. */
export interface Wanted {
  readonly path: string;
  /** What holds its place where there is nothing; default nothing. */
  readonly place?: { readonly kind: 'folder' } | { readonly kind: 'file'; readonly text: string };
}

const MAX_MODULES = 50;
const MAX_DEPTH = 4;
const HELD_FOLDER = { kind: 'folder' } as const;
const HELD_FILE = { kind: 'file', text: '' } as const;
/** It says what git takes for granted where there is none. An empty one git cannot read. */
const SAME_FOLDER = { kind: 'file', text: '.\n' } as const;

/**
 * What git runs or obeys by itself in a repository whose top folder is `project` ('' for the workspace), as it stands: configuration,
 * what that includes, hooks, and the files by which git finds them; the same for its submodules and worktrees.
 */
export async function gitPaths(held: HeldFolder, project: string): Promise<readonly Wanted[]> {
  const dotGit = join(project, '.git');
  const { kind } = await lookBeneath(held, dotGit);
  if (kind === 'missing') return isGitFolder(await listBeneath(held, project)) ? ofGitFolder(held, project) : [];
  if (kind === 'file') return [{ path: dotGit }, ...(await ofGitFile(held, dotGit, project))];
  if (kind !== 'folder') return [{ path: dotGit }];
  return [...(await ofGitFolder(held, dotGit, project)), ...(await ofModules(held, join(dotGit, 'modules')))];
}

/** By the names in it: what git takes for a repository, also where it is a bare one. */
export function isGitFolder(names: readonly string[]): boolean {
  return ['HEAD', 'objects/', 'refs/'].every((name) => names.includes(name));
}

/** The repository in the workspace that a file `.git` leads to, for a worktree through the `commondir` of its own folder in it. */
async function ofGitFile(held: HeldFolder, dotGit: string, project: string): Promise<readonly Wanted[]> {
  const [, target = ''] = /^gitdir:[ \t]*(.+)/.exec((await readBeneath(held, dotGit)) ?? '') ?? [];
  const folder = below(held, project, target.trim());
  if (target === '' || folder === undefined) return [];
  if (isGitFolder(await listBeneath(held, folder))) return ofGitFolder(held, folder, project);
  const common = (await readBeneath(held, join(folder, 'commondir')))?.trim() ?? '';
  const repository = below(held, folder, common);
  return common === '' || repository === undefined ? [] : ofGitFolder(held, repository, project);
}

/** `project` is where its files are; without one its configuration says so, or it is a bare repository. */
async function ofGitFolder(held: HeldFolder, folder: string, project?: string): Promise<readonly Wanted[]> {
  const config = ((await readBeneath(held, join(folder, 'config'))) ?? '').replaceAll('\r\n', '\n');
  const perWorktree = /worktreeConfig/i.test(config);
  const includes = valuesOf(config, 'path').map((value) => below(held, folder, value));
  const worktrees = valuesOf(config, 'worktree').map((value) => within(held, folder, value));
  // Git looks for hooks from the top folder of the files.
  const tops = [project ?? (worktrees.length > 0 ? undefined : folder), ...worktrees].filter((top) => top !== undefined);
  const hooks = valuesOf(config, 'hooksPath').flatMap((value) => tops.map((top) => hooksFolder(below(held, top, value))));
  return [
    { path: join(folder, 'config'), place: HELD_FILE },
    { path: join(folder, 'hooks'), place: HELD_FOLDER },
    { path: join(folder, 'commondir'), place: SAME_FOLDER },
    { path: join(folder, 'config.worktree'), ...(perWorktree && { place: HELD_FILE }) },
    ...includes.flatMap((path) => (path === undefined ? [] : [{ path, place: HELD_FILE }])),
    ...hooks.flatMap((path) => (path === undefined ? [] : [{ path, place: HELD_FOLDER }])),
    ...(await listBeneath(held, join(folder, 'worktrees'))).flatMap((name) =>
      ['commondir', 'config.worktree'].map((file) => ({ path: join(folder, 'worktrees', name, file) })),
    ),
  ];
}

/** Submodules' git folders, whose names may have slashes, and theirs. */
async function ofModules(held: HeldFolder, top: string): Promise<readonly Wanted[]> {
  const found: Wanted[] = [];
  let level: readonly string[] = [top];
  let looked = 0;
  for (let depth = 0; depth < MAX_DEPTH && level.length > 0; depth += 1) {
    const next: string[] = [];
    for (const folder of level) {
      if ((looked += 1) > MAX_MODULES) return found;
      const names = await listBeneath(held, folder);
      const isRepository = isGitFolder(names);
      if (isRepository) found.push(...(await ofGitFolder(held, folder)));
      const inside = names.filter((name) => name.endsWith('/') && (!isRepository || name === 'modules/'));
      next.push(...inside.map((name) => join(folder, name.slice(0, -1))));
    }
    level = next;
  }
  return found;
}

/** As git writes it: quotes and escapes anywhere, on the next line after a backslash, and no comment. */
const VALUE = /^(?:"(?:\\[^]|[^"\\\n])*"|\\[^]|[^"\\\n#;])*/;
/** An agent's own repository may have any configuration: of so many values, each of so many characters, it is read. */
const MAX_VALUES = 64;
const MAX_VALUE_CHARS = 4096;

const ESCAPED: Readonly<Record<string, string>> = { n: '\n', t: '\t', b: '\b', '\n': '' };

/** Of every section: a key that is of another section protects one path too many. So does one in a line that goes on. */
function valuesOf(config: string, key: string): readonly string[] {
  const values: string[] = [];
  for (const { 0: start, index } of config.matchAll(new RegExp(String.raw`^[ \t]*(?:\[[^\]\n]*\][ \t]*)?${key}[ \t]*=`, 'gim'))) {
    if (values.length === MAX_VALUES) break;
    const from = index + start.length;
    const [value = ''] = VALUE.exec(config.slice(from, from + MAX_VALUE_CHARS)) ?? [];
    values.push(value.trim().replace(/\\([^])|"/g, (_, escaped: string = '') => ESCAPED[escaped] ?? escaped));
  }
  return values;
}

/** The path below the workspace that a value means; `undefined` where it is the workspace itself or not in it. */
function below(held: HeldFolder, from: string, value: string): string | undefined {
  return within(held, from, value) || undefined;
}

/** '' is the workspace itself. Homes of others, and where git is installed, are not known here, and hardly in a workspace. */
function within(held: HeldFolder, from: string, value: string): string | undefined {
  const named = value.replace(/^~(?=\/|$)/, homedir());
  if (named === '' || /^(?:~|%\()/.test(named)) return undefined;
  const path = isAbsolute(named) ? relative(held.path, named) : normalize(join(from, named)).replace(/^\.?\/?$|\/$/, '');
  return path === '..' || path.startsWith('../') ? undefined : path;
}

/** Husky's folder of hooks is made anew by each installation, and each of them runs the file of its name in the folder above. */
function hooksFolder(path: string | undefined): string | undefined {
  return path?.endsWith('/_') ? path.slice(0, -2) : path;
}
