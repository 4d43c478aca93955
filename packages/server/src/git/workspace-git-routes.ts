import { Failure, FilePath, GitChanges, GitDiff } from '@tendon/protocol';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { fileFailureStatus, wordsOf } from '../sandboxes/file-failure.ts';
import { workspacePath } from '../files/workspace-path.ts';
import { commandsEnded } from './commands-ended.ts';
import { pathsInRepository } from '../sandboxes/in-repository.ts';
import { workspaceChanges } from './workspace-changes.ts';
import { workspaceDiff, type DiffResult } from './workspace-diff.ts';
import type { Routes } from '../platform/http/app.ts';
import { ById } from '../platform/http/conversation-param.ts';
import { failureWith, sendFailure } from '../platform/http/failure.ts';
import { isUntouched, workspaceOf, type Workspace, type WorkspaceContext } from '../sandboxes/workspace-of.ts';
import type { Clock } from '@tendon/core';
import type { Conversations } from '../conversations/conversations.ts';

const TIMEOUT_MS = 20_000;
/** Longer than a command may stay silent before its observation is returned. */
const HOLD_MS = 15_000;

const FAULTS: Readonly<Record<Exclude<DiffResult['state'], 'found'>, readonly [number, string]>> = {
  'no-repository': [404, 'Not a git repository'],
  'no-file': [404, 'There is no such file, now or before'],
  binary: [415, 'The file is not text'],
  'too-large': [413, 'The file is too large to be compared'],
};

interface GitContext extends WorkspaceContext {
  readonly conversations: Conversations;
  readonly clock: Clock;
}

/** What the agent changed. The sandbox's git looks, never the host's: a repository says which programs git starts. */
export const conversationGitRoutes: Routes<GitContext> = (app, context) => {
  const failures = { '4xx': Failure, 500: Failure };

  app.get(
    '/api/conversations/:id/git/changes',
    { schema: { params: ById, response: { 200: GitChanges, ...failures } } },
    async ({ params }, reply) => {
      await whatRunsEnds(context, params.id, reply);
      if (await isUntouched(context, params.id)) return [];
      const workspace = await workspaceOf(context, params.id);
      if ('code' in workspace) return sendFailure(reply, workspace);
      try {
        const changes = await workspaceChanges(workspace, context.clock.now());
        return workspace.repository ? pathsInRepository(changes, workspace.repository) : changes;
      } catch (cause) {
        return reply.code(500).send(failureWith(`Error getting changes: ${wordsOf(cause)}`));
      }
    },
  );

  app.get(
    '/api/conversations/:id/git/diff',
    { schema: { params: ById, querystring: z.object({ path: FilePath.min(1) }), response: { 200: GitDiff, ...failures } } },
    async ({ params, query }, reply) => {
      await whatRunsEnds(context, params.id, reply);
      const workspace = await workspaceOf(context, params.id);
      if ('code' in workspace) return sendFailure(reply, workspace);
      try {
        const signal = AbortSignal.timeout(TIMEOUT_MS);
        const result = await diffOf(workspace, workspacePath(query.path), { signal, now: context.clock.now() });
        if (result.state === 'found') return result.diff;
        const [status, words] = FAULTS[result.state];
        return (reply as FastifyReply).code(status).send(failureWith(words)) as never;
      } catch (cause) {
        return (reply as FastifyReply)
          .code(fileFailureStatus(cause))
          .send(failureWith(`Error getting the diff: ${wordsOf(cause)}`)) as never;
      }
    },
  );
};

/** Delays the answer for a while, and only while the client is connected. */
async function whatRunsEnds({ conversations }: GitContext, id: string, { raw }: FastifyReply): Promise<void> {
  const left = new AbortController();
  const leave = (): void => left.abort();
  raw.once('close', leave);
  try {
    await commandsEnded(conversations, id, AbortSignal.any([left.signal, AbortSignal.timeout(HOLD_MS)]));
  } finally {
    raw.off('close', leave);
  }
}

/** A path is one in the conversation's repository where there is such a file, else one in the workspace. */
async function diffOf(workspace: Workspace, path: string, options: Parameters<typeof workspaceDiff>[2]): Promise<DiffResult> {
  const { repository } = workspace;
  const inside = repository === undefined ? undefined : await workspaceDiff(workspace, repository + path, options).catch(() => undefined);
  const isThere = inside !== undefined && inside.state !== 'no-file' && inside.state !== 'no-repository';
  return isThere ? inside : workspaceDiff(workspace, path, options);
}
