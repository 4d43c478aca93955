/**
 * Which folder of the host becomes `/workspace` of a conversation.
 *
 * WF1  By default: WORKSPACE_BASE, or a folder of the conversation's own under TENDON_HOME.
 * WF2  A requested folder is granted only when its real path lies in WORKSPACE_BASE or one of TENDON_ALLOWED_DIRS; links cannot lead out, also not
 *     while the folder is made: from then on it is known by its real path, and opened without following any link.
 * WF3  A folder of the system (`/`, `/etc`, …) is never a workspace, whatever is configured.
 * WF4  With sandboxes on another host no folder is searched for or made here: a request names a folder of the workspace there.
 */
import { mkdir, readdir, realpath } from 'node:fs/promises';
import { isAbsolute, join, posix, resolve } from 'node:path';
import { catalogError, type CatalogError } from '@tendon/protocol';
import { holdFolder, isWithin } from '@tendon/runtime';
import { hasRemoteSandboxes } from '../platform/config/config.ts';
import { isSystemFolder, realOf, type FolderRules, type WorkspaceRoots } from './workspace-roots.ts';

export type WorkspaceFolder = { readonly ok: true; readonly path: string } | { readonly ok: false; readonly error: CatalogError };

/** What a server with sandboxes on another host records: names inside them. */
export const INSIDE = '/workspace';

/** `requested` is a path of the host, absolute or relative to the base, or `/workspace/…` as agents see it. Makes the folder. */
export async function workspaceFolder(
  roots: WorkspaceRoots,
  conversationId: string,
  requested: string | undefined,
): Promise<WorkspaceFolder> {
  if (roots.isRemote) return remoteFolder(requested ?? '');
  const base = roots.base ?? join(roots.own, conversationId);
  if (requested === undefined || requested === '' || requested === '.') return made(base);
  if (requested.includes('\0')) return refused(requested);
  const top = await made(base);
  if (!top.ok) return top;
  // Where it leads now. If that changes meanwhile the folder is refused: it is made and opened without following links.
  const path = await realOf(insideWorkspace(base, requested) ?? (isAbsolute(requested) ? resolve(requested) : resolve(base, requested)));
  const isAllowed = [base, ...roots.allowed].some((root) => isWithin(path, root));
  return isAllowed && !isSystemFolder(path) ? made(path) : refused(requested);
}

/** Makes WORKSPACE_BASE. Rejects with an Error that names it when it cannot be a folder, or must not be one for agents. */
export async function makeWorkspaceBase({ workspaceBase, runtime }: Pick<FolderRules, 'workspaceBase' | 'runtime'>): Promise<void> {
  if (workspaceBase === undefined || hasRemoteSandboxes(runtime)) return;
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

function remoteFolder(requested: string): WorkspaceFolder {
  const path = posix.resolve(INSIDE, requested);
  const isInside = path === INSIDE || path.startsWith(`${INSIDE}/`);
  return isInside && !requested.includes('\0') ? { ok: true, path } : refused(requested);
}

function insideWorkspace(base: string, requested: string): string | undefined {
  return requested === INSIDE || requested.startsWith(`${INSIDE}/`) ? resolve(base, `.${requested.slice(INSIDE.length)}`) : undefined;
}

async function made(path: string): Promise<WorkspaceFolder> {
  try {
    (await holdFolder(path, { makes: true })).close();
    return { ok: true, path };
  } catch (error) {
    return { ok: false, error: unusable(error as NodeJS.ErrnoException) };
  }
}

/** In the words of the system, without the call that it is about. */
function unusable({ code, message }: NodeJS.ErrnoException): CatalogError {
  const isFull = code === 'ENOSPC' || code === 'EDQUOT';
  return catalogError(isFull ? 'STORAGE_FAILED' : 'FOLDER_NOT_USABLE', message.replace(/, (?:mkdir|open) '.*'$/, ''));
}

function refused(requested: string): WorkspaceFolder {
  return { ok: false, error: catalogError('DIRECTORY_NOT_ALLOWED', requested.length > 200 ? `${requested.slice(0, 200)}…` : requested) };
}
