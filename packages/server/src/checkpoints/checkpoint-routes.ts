import type { Checkpoint } from '@tendon/core';
import {
  catalogError,
  CheckpointChanges,
  ConversationCheckpoints,
  Failure,
  RestoreCheckpoint,
  RestoreCheckpointAction,
  RestoredCheckpoint,
  type CheckpointInfo,
} from '@tendon/protocol';
import { z } from 'zod';
import type { Conversations } from '../conversations/conversations.ts';
import type { Routes } from '../platform/http/app.ts';
import { sendFailure } from '../platform/http/failure.ts';
import { outcomeOf } from './outcome-of.ts';
import { ById, optionalBody } from '../platform/http/request-parts.ts';
import { workspaceOf, wordsOf, type WorkspaceContext } from '../sandboxes/workspace-of.ts';

const TIMEOUT_MS = 120_000;
const ONE = '/api/conversations/:id/checkpoints';
const failures = { '4xx': Failure, 500: Failure, 503: Failure };

interface CheckpointsContext extends Omit<WorkspaceContext, 'conversations'> {
  readonly conversations: WorkspaceContext['conversations'] & Pick<Conversations, 'submit' | 'log'>;
}

/** The states of a workspace that can be restored, and the restoring of one: an action of the user's, as the sandbox carries it out. */
export const checkpointRoutes: Routes<CheckpointsContext> = (app, context) => {
  const listed = { params: ById, response: { 200: ConversationCheckpoints, ...failures } };
  app.get(ONE, { schema: listed }, async ({ params }, reply) => {
    const workspace = await workspaceOf(context, params.id);
    if ('code' in workspace) return sendFailure(reply, workspace);
    try {
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      const { checkpoints, leftOut, off } = await workspace.runtime.files.checkpoints({ signal });
      return { checkpoints: checkpoints.map(infoOf), left_out: [...leftOut], off: off ?? null };
    } catch (cause) {
      return sendFailure(reply, catalogError('RUNTIME_FAILED', wordsOf(cause)));
    }
  });

  const params = ById.extend({ number: z.coerce.number().int().min(1).max(Number.MAX_SAFE_INTEGER) });
  const compared = { params, response: { 200: CheckpointChanges, ...failures } };
  app.get(`${ONE}/:number/changes`, { schema: compared }, async ({ params: { id, number } }, reply) => {
    const workspace = await workspaceOf(context, id);
    if ('code' in workspace) return sendFailure(reply, workspace);
    try {
      const { count, changes } = await workspace.runtime.files.compareCheckpoint(number, { signal: AbortSignal.timeout(TIMEOUT_MS) });
      return { checkpoint: number, count, changes: [...changes] };
    } catch (cause) {
      return sendFailure(reply, catalogError('INVALID_ARGUMENTS', wordsOf(cause)));
    }
  });

  const restored = { params, body: optionalBody(RestoreCheckpoint), response: { 200: RestoredCheckpoint, ...failures } };
  app.post(
    `${ONE}/:number/restore`,
    { schema: restored },
    async ({ params: { id, number }, body: { before: from, ...body }, principal: by }, reply) => {
      const action = RestoreCheckpointAction.create({ checkpoint: number, ...body, ...(from !== undefined && { from }) });
      const result = await context.conversations.submit(id, action, { by });
      if (!result.ok) return sendFailure(reply, result.error);
      const log = await context.conversations.log(id);
      const outcome = log && (await outcomeOf(log, result.event.id));
      if (outcome?.observation === 'restore_checkpoint') {
        const { changed, left } = outcome.extras;
        return { status: 'restored' as const, event_id: result.event.id, changed, left };
      }
      if (outcome) return sendFailure(reply, catalogError('RUNTIME_FAILED', outcome.content));
      return { status: 'pending' as const, event_id: result.event.id, changed: 0, left: [] };
    },
  );
};

function infoOf({ number, actionId, at, files, isOfRestore }: Checkpoint): CheckpointInfo {
  const id = actionId < Number.MAX_SAFE_INTEGER ? actionId : null;
  return { number, made_at: new Date(at).toISOString(), event_id: isOfRestore ? null : id, restore_id: isOfRestore ? id : null, files };
}
