import { type GitChanges, catalogError, type CatalogError } from '@tendon/protocol';
import type { Runtime } from '@tendon/core';
import type { SandboxPool } from '@tendon/runtime';
import type { Logger } from '../platform/logger.ts';

export interface WorkspaceContext {
  readonly conversations: { get(id: string): Promise<WithRepository | undefined> };
  readonly runtimes: SandboxPool;
  readonly logger: Logger;
}

const START_MS = 15_000;

export interface Workspace {
  readonly runtime: Runtime;
  /** Where it is for what runs in the sandbox. */
  readonly root: string;
  /** In it, of the repository that the conversation is about, with a slash at its end. */
  readonly repository?: string | undefined;
}

/** There is certainly nothing in it, and no sandbox runs: frontends that ask for files as soon as they open a conversation start none. */
export async function isUntouched({ runtimes }: Pick<WorkspaceContext, 'runtimes'>, id: string): Promise<boolean> {
  return runtimes.current(id) === undefined && ((await runtimes.isWorkspaceEmpty?.(id)) ?? false);
}

/** The live sandbox, or one started now: an old conversation's files can be looked at. */
export async function workspaceOf({ conversations, runtimes, logger }: WorkspaceContext, id: string): Promise<Workspace | CatalogError> {
  const record = await conversations.get(id);
  if (!record) return catalogError('CONVERSATION_NOT_FOUND', id);
  try {
    const runtime = runtimes.current(id) ?? (await runtimes.acquire(id, { signal: AbortSignal.timeout(START_MS) }));
    return { runtime, root: runtime.workspace, repository: repositoryFolder(record) };
  } catch (cause) {
    logger.warn({ err: cause, conversation: id }, 'the sandbox did not start');
    return catalogError('RUNTIME_NOT_READY');
  }
}

export interface WithRepository {
  readonly selected_repository: string | null;
}

/**
 * The folder of the conversation's repository in its workspace, with a slash at its end.
 * @internal
 */
export function repositoryFolder({ selected_repository }: WithRepository): string | undefined {
  const name = selected_repository
    ?.replace(/\/$|\.git\/?$/g, '')
    .split('/')
    .at(-1);
  return name ? `${name}/` : undefined;
}

/**
 * Frontends know the files of a conversation's repository by their paths in it, and look their differences up again by those. What lies
 * beside the repository keeps its path in the workspace, and so does what would else have another's name.
 */
export function pathsInRepository(changes: GitChanges, folder: string): GitChanges {
  const beside = new Set(changes.flatMap(({ path }) => (path.startsWith(folder) ? [] : [path])));
  return changes
    .map(({ status, path }) => {
      const inside = path.startsWith(folder) ? path.slice(folder.length) : path;
      return { status, path: beside.has(inside) ? path : inside };
    })
    .toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

/** What became of a file that the sandbox could not give or take, as a status: it says so in words of the system. */
export function fileFailureStatus(cause: unknown): number {
  const words = wordsOf(cause);
  if (/^(ENOENT|ENOTDIR)\b/.test(words)) return 404;
  if (/^(EACCES|EPERM|EROFS)\b|is read-only in this sandbox/.test(words)) return 403;
  if (/is not a (?:regular )?file$|^EISDIR\b|NUL|^ENAMETOOLONG\b|^ELOOP\b/.test(words)) return 400;
  if (/^more than \d+ bytes/.test(words)) return 413;
  return 500;
}

export function wordsOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
