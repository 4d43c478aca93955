import {
  catalogError,
  ChangesQuery,
  Failure,
  FileVersions,
  FileVersionsQuery,
  WorkspaceChanges,
  type CatalogError,
  type ChangedFile,
} from '@tendon/protocol';
import type { CheckpointComparison } from '@tendon/protocol/executor-api';
import type { Clock } from '@tendon/core';
import type { FastifyReply } from 'fastify';
import type { Conversations } from '../conversations/conversations.ts';
import { workspacePath } from '../files/workspace-entries.ts';
import type { Routes } from '../platform/http/app.ts';
import { failureWith, sendFailure } from '../platform/http/failure.ts';
import { ById } from '../platform/http/request-parts.ts';
import { isUntouched, wordsOf, workspaceOf, type Workspace, type WorkspaceContext } from '../sandboxes/workspace-of.ts';
import { changesSinceCommit, type ChangeList } from './commit-changes.ts';
import { fileVersions, type VersionsResult } from './file-versions.ts';
import { reviewBase, type ReviewBase } from './review-base.ts';

export interface ReviewContext extends Omit<WorkspaceContext, 'conversations'> {
  readonly conversations: WorkspaceContext['conversations'] & Pick<Conversations, 'submit' | 'log'>;
  readonly clock: Clock;
}

const TIMEOUT_MS = 60_000;
export const CHANGES = '/api/conversations/:id/changes';
export const failures = { '4xx': Failure, 500: Failure, 503: Failure };

const UNREADABLE: Readonly<Record<Exclude<VersionsResult['state'], 'found'>, readonly [number, string]>> = {
  absent: [404, 'There is no such file, now or before'],
  binary: [415, 'The file is not text'],
  'too-large': [413, 'The file is too large to be compared'],
  'not-stored': [404, 'What the file was is not stored: it commonly holds secrets, or was too large'],
};

/** What has changed in the workspace, by the agent, its shell or a person: against a checkpoint, which needs no repository, or against a commit. */
export const changesRoutes: Routes<ReviewContext> = (app, context) => {
  const listed = { params: ById, querystring: ChangesQuery, response: { 200: WorkspaceChanges, ...failures } };
  app.get(CHANGES, { schema: listed }, async ({ params: { id }, query }, reply) => {
    if (!(await context.conversations.get(id))) return sendFailure(reply, catalogError('CONVERSATION_NOT_FOUND', id));
    if (await isUntouched(context, id)) return NOTHING;
    if (query.wake === '0' && context.runtimes.current(id) === undefined) return { ...NOTHING, state: 'suspended' as const };
    const compared = await compareWith(context, id, query);
    if ('code' in compared) return sendFailure(reply, compared);
    try {
      const list = await changesSince(compared, context.clock.now());
      return { state: 'compared' as const, base: shownBase(compared.base), count: list.count, files: [...list.files] };
    } catch (cause) {
      return sendFailure(reply, catalogError('RUNTIME_FAILED', wordsOf(cause)));
    }
  });

  const shown = { params: ById, querystring: FileVersionsQuery, response: { 200: FileVersions, ...failures } };
  app.get(`${CHANGES}/file`, { schema: shown }, async ({ params: { id }, query }, reply) => {
    const path = pathInWorkspace(query.path);
    if (path === undefined) return sendFailure(reply, catalogError('INVALID_ARGUMENTS', 'path: a path in the workspace is expected'));
    const compared = await compareWith(context, id, query);
    if ('code' in compared) return sendFailure(reply, compared);
    try {
      const options = { signal: AbortSignal.timeout(TIMEOUT_MS), now: context.clock.now(), until: compared.until };
      const result = await fileVersions(compared.workspace, compared.base, path, options);
      if (result.state !== 'found') return sendUnreadable(reply, result.state);
      const { original = null, modified = null, version } = result.versions;
      return { original, modified, version };
    } catch (cause) {
      return sendFailure(reply, catalogError('RUNTIME_FAILED', wordsOf(cause)));
    }
  });
};

const NOTHING: WorkspaceChanges = {
  state: 'compared',
  base: { kind: 'now', checkpoint: null, made_at: null, note: null },
  count: 0,
  files: [],
};

export function sendUnreadable(reply: FastifyReply, state: Exclude<VersionsResult['state'], 'found'>): never {
  const [status, words] = UNREADABLE[state];
  return reply.code(status).send(failureWith(words)) as never;
}

/** Without what leads out of the workspace, or is no path in it. */
export function pathInWorkspace(given: string): string | undefined {
  const path = workspacePath(given);
  return path === '' || path.split('/').some((segment) => segment === '' || segment === '.' || segment === '..') ? undefined : path;
}

export interface Compared {
  readonly workspace: Workspace;
  readonly base: ReviewBase;
  /** The checkpoint that it is compared with in place of the present. */
  readonly until: number | undefined;
}

/** What the conversation's workspace is compared with; its sandbox is started where there is none. */
export async function compareWith(
  context: ReviewContext,
  id: string,
  { against, until }: { readonly against: string; readonly until?: number | undefined },
): Promise<Compared | CatalogError> {
  const workspace = await workspaceOf(context, id);
  if ('code' in workspace) return workspace;
  const log = await context.conversations.log(id);
  if (!log) return catalogError('CONVERSATION_NOT_FOUND', id);
  try {
    const stored = await workspace.runtime.files.checkpoints({ signal: AbortSignal.timeout(TIMEOUT_MS) });
    const base = await reviewBase(log, against, stored);
    if ('code' in base) return base;
    const end = until === undefined ? undefined : await reviewBase(log, `event:${until}`, stored);
    if (end && 'code' in end) return end;
    return { workspace, base, until: end?.kind === 'checkpoint' ? end.checkpoint.number : undefined };
  } catch (cause) {
    return catalogError('RUNTIME_FAILED', wordsOf(cause));
  }
}

async function changesSince({ workspace, base, until }: Compared, now: Date): Promise<ChangeList> {
  if (base.kind === 'now') return { count: 0, files: [] };
  if (base.kind === 'commit') return changesSinceCommit(workspace, base.branch, now);
  const options = { signal: AbortSignal.timeout(TIMEOUT_MS), lines: true, ...(until !== undefined && { until }) };
  return sinceCheckpoint(await workspace.runtime.files.compareCheckpoint(base.checkpoint.number, options));
}

/** What a restore would take away has come since. */
const STATUS = { removed: 'A', changed: 'M', added: 'D' } as const;

function sinceCheckpoint({ count, changes }: CheckpointComparison): ChangeList {
  const files = changes.map(({ path, change, lines, content }): ChangedFile => {
    return { path, status: STATUS[change], added: lines?.added ?? null, removed: lines?.removed ?? null, ...(content && { content }) };
  });
  return { count, files };
}

function shownBase(base: ReviewBase): WorkspaceChanges['base'] {
  if (base.kind === 'now') return NOTHING.base;
  if (base.kind === 'commit') return { kind: 'commit', checkpoint: null, made_at: null, note: base.note };
  const { number, at } = base.checkpoint;
  return { kind: 'checkpoint', checkpoint: number, made_at: new Date(at).toISOString(), note: base.note };
}
