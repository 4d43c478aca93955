import type { Runtime } from '@tendon/core';
import { catalogError, type CatalogError } from '@tendon/protocol';
import { repositoryFolder, type WithRepository } from './in-repository.ts';
import type { SandboxRuntimes } from '@tendon/runtime';
import type { Logger } from '../platform/logger.ts';

export interface WorkspaceContext {
  readonly conversations: { get(id: string): Promise<WithRepository | undefined> };
  readonly runtimes: SandboxRuntimes;
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

/** There is certainly nothing in it, and no sandbox is awake: frontends that ask for files as soon as they open a conversation start none. */
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
