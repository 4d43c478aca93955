import type { EventLog, Storage } from '@tendon/core';
import { catalogError, Failure, ForkConversation, ForkedConversation, type CatalogError } from '@tendon/protocol';
import type { Conversations } from '../conversations/conversations.ts';
import type { Routes } from '../platform/http/app.ts';
import { sendFailure } from '../platform/http/failure.ts';
import { ById, optionalBody } from '../platform/http/request-parts.ts';
import { workspaceOf, wordsOf, type WorkspaceContext } from '../sandboxes/workspace-of.ts';
import { forkConversation } from './fork-conversation.ts';
import { forkPoint, type ForkPoint } from './fork-point.ts';

/** A copy of a large workspace takes its time. */
const TIMEOUT_MS = 10 * 60_000;

interface ForkContext extends Omit<WorkspaceContext, 'conversations'> {
  readonly conversations: Pick<Conversations, 'get' | 'log' | 'createFilled'>;
  readonly storage: Pick<Storage, 'events'>;
  readonly clock: { now(): Date };
}

/** A second conversation from an event of the first one on, with the workspace as it was then. */
export const forkRoutes: Routes<ForkContext> = (app, context) => {
  const response = { 200: ForkedConversation, '4xx': Failure, 500: Failure, 503: Failure };
  const schema = { params: ById, body: optionalBody(ForkConversation), response };
  app.post('/api/conversations/:id/fork', { schema }, async ({ params: { id }, body, principal: by }, reply) => {
    const [source, log] = [await context.conversations.get(id), await context.conversations.log(id)];
    if (!source || !log) return sendFailure(reply, catalogError('CONVERSATION_NOT_FOUND', id));
    const event = body.event ?? log.nextId - 1;
    if (event < 0 || event >= log.nextId) return sendFailure(reply, catalogError('INVALID_ARGUMENTS', `there is no event ${event}`));
    const point = await findPoint(context, id, log, event);
    if ('code' in point) return sendFailure(reply, point);
    const { conversations, storage, runtimes, clock } = context;
    try {
      const parts = { conversations, storage, runtimes, by, now: () => clock.now(), signal: AbortSignal.timeout(TIMEOUT_MS) };
      const { record, left } = await forkConversation(source, log, point, parts);
      return { conversation_id: record.id, event_id: event, checkpoint: point.checkpoint ?? null, left: [...left] };
    } catch (cause) {
      context.logger.warn({ err: cause, conversation: id }, 'a conversation could not be forked');
      return sendFailure(reply, catalogError('RUNTIME_FAILED', wordsOf(cause)));
    }
  });
};

async function findPoint(context: ForkContext, id: string, log: EventLog, event: number): Promise<ForkPoint | CatalogError> {
  const workspace = await workspaceOf(context, id);
  if ('code' in workspace) return workspace;
  try {
    const { checkpoints } = await workspace.runtime.files.checkpoints({ signal: AbortSignal.timeout(TIMEOUT_MS) });
    return await forkPoint(log, event, checkpoints);
  } catch (cause) {
    return catalogError('RUNTIME_FAILED', wordsOf(cause));
  }
}
