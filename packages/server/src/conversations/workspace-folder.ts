/**
 * Which folder of the host becomes `/workspace` of a conversation.
 *
 * W1  Without a wish: WORKSPACE_BASE, or a folder of the conversation's own under TENDON_HOME.
 * W2  A wish is granted only when its real path lies in WORKSPACE_BASE or one of TENDON_ALLOWED_DIRS; links can not lead out.
 * W3  A folder of the system (`/`, `/etc`, …) is never a workspace, whatever is configured.
 * W4  With sandboxes on another host nothing is looked for or made here: a wish names a folder of the workspace there.
 */
import { mkdir, readdir, realpath } from 'node:fs/promises';
import { dirname, isAbsolute, join, posix, resolve } from 'node:path';
import { catalogError, type CatalogError } from '@tendon/protocol';
import { isWithin } from '@tendon/runtime';
import type { Config } from '../config/config.ts';
import { isSystemFolder } from './system-folder.ts';

export type WorkspaceFolder = { readonly ok: true; readonly path: string } | { readonly ok: false; readonly error: CatalogError };

export type FolderRules = Pick<Config, 'home' | 'workspaceBase' | 'allowedDirs'> & Partial<Pick<Config, 'runtime'>>;

const INSIDE = '/workspace';

/** `wish` is a path of the host, absolute or relative to the base, or `/workspace/…` as agents see it. Makes the folder. */
export async function workspaceFolder(rules: FolderRules, conversationId: string, wish: string | undefined): Promise<WorkspaceFolder> {
  if (rules.runtime === 'remote') return folderElsewhere(wish ?? '');
  const base = rules.workspaceBase ?? ownFolder(rules.home, conversationId);
  if (wish === undefined || wish === '' || wish === '.') return made(base);
  if (wish.includes('\0')) return refused(wish);
  const wanted = insideWorkspace(base, wish) ?? (isAbsolute(wish) ? resolve(wish) : resolve(base, wish));
  await mkdir(base, { recursive: true });
  const roots = await Promise.all([base, ...rules.allowedDirs].map((root) => realpath(root).catch(() => undefined)));
  const isAllowed = (path: string) => roots.some((root) => root !== undefined && isWithin(path, root));
  // Look before making anything: the nearest folder that exists decides where new ones would come to be.
  if (!isAllowed(await nearestRealPath(wanted))) return refused(wish);
  const folder = await made(wanted);
  return folder.ok && isAllowed(folder.path) && !isSystemFolder(folder.path) ? folder : refused(wish);
}

/** Makes WORKSPACE_BASE. Rejects with an Error that names it when it cannot be a folder, or must not be one for agents. */
export async function makeWorkspaceBase({ workspaceBase, runtime }: Pick<FolderRules, 'workspaceBase' | 'runtime'>): Promise<void> {
  if (workspaceBase === undefined || runtime === 'remote') return;
  try {
    await mkdir(workspaceBase, { recursive: true });
    await readdir(workspaceBase);
  } catch (cause) {
    throw new Error(`WORKSPACE_BASE ${workspaceBase} cannot be used: ${(cause as Error).message}`, { cause });
  }
  if (isSystemFolder(await realpath(workspaceBase))) {
    throw new Error(
      `WORKSPACE_BASE ${workspaceBase} is a folder of the system: agents could change everything in it. Name a folder that holds projects, such as ~/projects.`,
    );
  }
}

/** Where a conversation without a configured base works. */
export function ownFolder(home: string, conversationId: string): string {
  return join(home, 'workspaces', conversationId);
}

function folderElsewhere(wish: string): WorkspaceFolder {
  const path = posix.resolve(INSIDE, wish);
  const isInside = path === INSIDE || path.startsWith(`${INSIDE}/`);
  return isInside && !wish.includes('\0') ? { ok: true, path } : refused(wish);
}

function insideWorkspace(base: string, wish: string): string | undefined {
  return wish === INSIDE || wish.startsWith(`${INSIDE}/`) ? resolve(base, `.${wish.slice(INSIDE.length)}`) : undefined;
}

async function made(path: string): Promise<WorkspaceFolder> {
  try {
    await mkdir(path, { recursive: true });
    return { ok: true, path: await realpath(path) };
  } catch {
    return refused(path);
  }
}

async function nearestRealPath(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : nearestRealPath(parent);
  }
}

function refused(wish: string): WorkspaceFolder {
  return { ok: false, error: catalogError('DIRECTORY_NOT_ALLOWED', wish.length > 200 ? `${wish.slice(0, 200)}…` : wish) };
}
