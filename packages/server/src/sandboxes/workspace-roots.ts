import { readlink, realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { isWithin } from '@tendon/runtime';
import { hasRemoteSandboxes, type FolderConfig, type SandboxesConfig } from '../platform/config/config.ts';

export type FolderRules = FolderConfig & Partial<Pick<SandboxesConfig, 'runtime'>>;

/** Below which folders workspaces may be: real paths, found out once, before an agent of this server runs. */
export interface WorkspaceRoots {
  /** Sandboxes are on another host, which has roots of its own: no path means anything here. */
  readonly isRemote: boolean;
  readonly base: string | undefined;
  readonly allowed: readonly string[];
  /** In it conversations have folders of their own. */
  readonly own: string;
}

const MAX_LINKS = 40;

/**
 * Links that the operator has put into a configured path are followed, here and never again. One that lies in another root is not: an
 * agent may have put it there, before the server was started anew.
 */
export async function workspaceRoots({ home, workspaceBase, allowedDirs, runtime }: FolderRules): Promise<WorkspaceRoots> {
  const own = await realOf(join(home, 'workspaces'));
  const configured = [...(workspaceBase === undefined ? [] : [workspaceBase]), ...allowedDirs];
  const all = [own, ...(await Promise.all(configured.map(realOf)))];
  const roots = await Promise.all(configured.map((path, at) => trusted(path, all.toSpliced(at + 1, 1))));
  const base = workspaceBase === undefined ? undefined : roots[0];
  return { isRemote: hasRemoteSandboxes(runtime), base, allowed: base === undefined ? roots : roots.slice(1), own };
}

/** Why the folder may not be a workspace on this machine as it is configured now, in words; `undefined` when it may. */
export function outsideRoots(path: string, { isRemote, base, allowed, own }: WorkspaceRoots): string | undefined {
  if (isRemote) return undefined;
  if (resolve(path) !== path) return `${path} is not the real path of a folder`;
  if (isSystemFolder(path)) return `${path} is a folder of the system, and never a workspace`;
  if (path !== own && isWithin(path, own)) return undefined;
  if ([...(base === undefined ? [] : [base]), ...allowed].some((root) => isWithin(path, root))) return undefined;
  return `the folder ${path} is outside of what this server may give to agents: name it in TENDON_ALLOWED_DIRS, or one above it, and start the server again`;
}

/** The real path of what is there; what is not there yet has the name that it would have. */
export async function realOf(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(await realOf(parent), basename(path));
  }
}

/** Without following what lies in one of the others: then a link stays in the path, and nothing below it is ever opened. */
async function trusted(path: string, others: readonly string[]): Promise<string> {
  let at = '/';
  let links = 0;
  const steps = path.split('/');
  for (let step = steps.shift(); step !== undefined; step = steps.shift()) {
    const next = resolve(at, step === '' ? '.' : step);
    const isOurs = links < MAX_LINKS && !others.some((other) => isWithin(at, other));
    const target = isOurs ? await readlink(next).catch(() => undefined) : undefined;
    if (target === undefined) at = next;
    else {
      links += 1;
      if (target.startsWith('/')) at = '/';
      steps.unshift(...target.split('/'));
    }
  }
  return at;
}

/** Refused with everything below them. */
const DEEP = [
  '/bin',
  '/boot',
  '/etc',
  '/lib',
  '/lib32',
  '/lib64',
  '/libx32',
  '/proc',
  '/sbin',
  '/sys',
  '/usr/bin',
  '/usr/lib',
  '/usr/sbin',
];
/** Refused by themselves only: users have projects below them. */
const ITSELF = ['/', '/dev', '/home', '/run', '/usr', '/usr/local', '/usr/share', '/var', '/var/lib'];

/** Whether writing to `path` (real, absolute) can change the system or the files of all its users: such a folder is never given to agents. */
export function isSystemFolder(path: string): boolean {
  return ITSELF.includes(path) || DEEP.some((folder) => isWithin(path, folder));
}
