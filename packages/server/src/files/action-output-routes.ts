import { Readable } from 'node:stream';
import { Failure } from '@tendon/protocol';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { foundOutput } from './found-output.ts';
import { wholeOutput } from './whole-output.ts';
import type { Routes } from '../platform/http/app.ts';
import { ById } from '../platform/http/conversation-param.ts';
import { fail, failureWith, sendFailure } from '../platform/http/failure.ts';
import { workspaceOf, type WorkspaceContext } from '../sandboxes/workspace-of.ts';
import type { Secret } from '@tendon/core';
import type { Conversations } from '../conversations/conversations.ts';
import type { StoredConversation } from '../conversations/conversation-records.ts';

const ByEvent = ById.extend({ eventId: z.coerce.number().int().min(0) });

interface OutputContext extends WorkspaceContext {
  readonly conversations: Conversations;
  readonly toolServers: { secretsOf(record: StoredConversation): readonly Secret[] };
  /** Everything that must not be printed, as of now. */
  secrets(): readonly Secret[];
}

/** Ours: all that a command or a cell has printed, as a file. */
export const actionOutputRoutes: Routes<OutputContext> = (app, context) => {
  const schema = { params: ByEvent, response: { '4xx': Failure, 500: Failure } };
  app.get('/api/conversations/:id/events/:eventId/output', { schema }, async ({ params: { id, eventId } }, reply) => {
    const { conversations, toolServers, secrets } = context;
    const [log, record] = await Promise.all([conversations.log(id), conversations.get(id)]);
    if (!log || !record) return fail(reply, 'CONVERSATION_NOT_FOUND', id);
    const found = await foundOutput(log, eventId);
    if (found.state === 'none') return reply.code(404).send(failureWith(found.reason));
    if (found.state === 'whole') return asFile(reply, eventId, found.text);
    const workspace = await workspaceOf(context, id);
    if ('code' in workspace) return sendFailure(reply, workspace);
    const named = { actionId: found.actionId, epoch: log.epochOf(found.actionId) };
    const output = await wholeOutput(workspace.runtime, named, [...secrets(), ...toolServers.secretsOf(record)]);
    if (output) return asFile(reply, eventId, Readable.from(output));
    return reply.code(404).send(failureWith('The sandbox does not keep this output any more; the event has its beginning and its end.'));
  });
};

function asFile(reply: unknown, eventId: number, body: string | Readable): never {
  const name = `attachment; filename="output-${eventId}.txt"`;
  return (reply as FastifyReply).type('text/plain; charset=utf-8').header('content-disposition', name).send(body) as never;
}
