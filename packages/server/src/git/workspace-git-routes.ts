import { Failure, FilePath, GitChanges, GitDiff, isObservation, isRunnable, type Action, type ConversationState } from '@tendon/protocol';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import type { Clock } from '@tendon/core';
import { shellQuote } from '@tendon/protocol/executor-api';
import {
  fileFailureStatus,
  wordsOf,
  pathsInRepository,
  isUntouched,
  workspaceOf,
  type Workspace,
  type WorkspaceContext,
} from '../sandboxes/workspace-of.ts';
import { workspacePath } from '../files/workspace-entries.ts';
import { workspaceChanges, GIT_PRELUDE } from './workspace-changes.ts';
import type { Routes } from '../platform/http/app.ts';
import { ById } from '../platform/http/request-parts.ts';
import { untilClientLeaves } from '../platform/http/until-client-leaves.ts';
import { failureWith, sendFailure } from '../platform/http/failure.ts';
import type { Conversations } from '../conversations/conversations.ts';
import { runSandboxCommand } from '../sandboxes/sandbox-command.ts';

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
function whatRunsEnds({ conversations }: GitContext, id: string, reply: Pick<FastifyReply, 'raw'>): Promise<void> {
  return untilClientLeaves(reply, (left) => commandsEnded(conversations, id, AbortSignal.any([left, AbortSignal.timeout(HOLD_MS)])));
}

/** A path is one in the conversation's repository where there is such a file, else one in the workspace. */
async function diffOf(workspace: Workspace, path: string, options: Parameters<typeof workspaceDiff>[2]): Promise<DiffResult> {
  const { repository } = workspace;
  const inside = repository === undefined ? undefined : await workspaceDiff(workspace, repository + path, options).catch(() => undefined);
  const isThere = inside !== undefined && inside.state !== 'no-file' && inside.state !== 'no-repository';
  return isThere ? inside : workspaceDiff(workspace, path, options);
}

/**
 * Resolves when every command that runs in the conversation now has its observation, or when `signal` aborts. Frontends ask what has
 * changed as soon as they see a command, and not again when it has ended. Does not wait for commands that begin meanwhile.
 */
async function commandsEnded(conversations: Conversations, id: string, signal: AbortSignal): Promise<void> {
  if (runningIn(conversations.state(id)).size === 0) return;
  const held = await conversations.enter(id);
  if (!held) return;
  try {
    const { conversation, ended } = held.open;
    const { nextId } = conversation.state;
    const running = runningIn(conversation.state);
    if (running.size === 0) return;
    for await (const event of conversation.log.follow(nextId, { signal: AbortSignal.any([signal, ended]) })) {
      if (isObservation(event) && event.cause !== undefined) running.delete(event.cause);
      if (running.size === 0) return;
    }
  } finally {
    held.release();
  }
}

function runningIn(state: ConversationState | undefined): Set<number> {
  return new Set((state?.pending ?? []).filter(isRunning).map(({ id }) => id));
}

/** A command that waits for a confirmation does not run, and may wait for ever. */
function isRunning({ action, args }: Action): boolean {
  const isAsked = 'confirmation_state' in args && args.confirmation_state === 'awaiting_confirmation';
  return isRunnable(action) && !isAsked;
}

type DiffResult =
  | { readonly state: 'found'; readonly diff: GitDiff }
  | { readonly state: 'no-repository' | 'no-file' | 'binary' | 'too-large' };

const MAX_BYTES = 5 * 1024 * 1024;

/** The file as it is and as it was where changes are counted from. `path` is relative to the workspace. */
async function workspaceDiff(
  { runtime, root }: Workspace,
  path: string,
  { signal, now }: { readonly signal: AbortSignal; readonly now: Date },
): Promise<DiffResult> {
  const asked = { cwd: root, timeoutSeconds: 20, maxBytes: MAX_BYTES + 1, now };
  const old = await runSandboxCommand(runtime, scriptFor(path), asked);
  if (old.exitCode === 127) throw new Error('there is no git in the sandbox');
  if (old.exitCode === 3) return { state: 'no-repository' };
  if (old.exitCode !== 0 && old.exitCode !== 4) throw new Error('git did not answer in time');
  const original = old.exitCode === 0 ? old.text : undefined;
  const bytes = await runtime.files.read(path, { signal, maxBytes: MAX_BYTES }).catch((cause: Error) => {
    if (!/^(ENOENT|ENOTDIR)\b/.test(cause.message)) throw cause;
    return undefined;
  });
  if (original === undefined && bytes === undefined) return { state: 'no-file' };
  if (old.isCut) return { state: 'too-large' };
  const modified = bytes ? Buffer.from(bytes).toString('utf8') : '';
  if (modified.includes('\0') || original?.includes('\0')) return { state: 'binary' };
  return { state: 'found', diff: { modified, original: original ?? '' } };
}

/** From the nearest folder that is still there: a deleted file's may be gone. */
function scriptFor(path: string): string {
  return `${GIT_PRELUDE}
path=${shellQuote(path)}
dir=$(dirname -- "$path"; printf x); dir=\${dir%?x}
while [ ! -d "$dir" ]; do dir=$(dirname -- "$dir"; printf x); dir=\${dir%?x}; done
rest=\${path#"$dir"/}
cd -- "$dir" || exit 3
g rev-parse --is-inside-work-tree >&3 || exit 3
base=$(base_ref) || exit 4
g cat-file blob "$base:./$rest" || exit 4`;
}
