import { Readable } from 'node:stream';
import type { IncomingMessage } from 'node:http';
import {
  EventsPage,
  EventsQuery,
  Failure,
  MessageAction,
  openhandsV0,
  SendAnswer,
  SendMessage,
  Trajectory,
  type ParsedAction,
  EventFilter,
} from '@tendon/protocol';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Secret } from '@tendon/protocol/masking';
import type { Conversations } from '../conversations/conversations.ts';
import { atifText } from './atif-text.ts';
import { markdownText } from './markdown-text.ts';
import { findEvents } from './find-events.ts';
import { trajectoryLines, trajectoryText } from './trajectory-text.ts';
import type { Caller } from '../platform/auth/caller.ts';
import type { App, Routes } from '../platform/http/app.ts';
import { ById, IdempotencyHeaders, requestId } from '../platform/http/request-parts.ts';
import { fail, sendFailure, sendJsonText } from '../platform/http/failure.ts';
import type { EventSearch } from './event-search.ts';

interface EventContext {
  readonly conversations: Conversations;
  readonly eventSearch: EventSearch;
  readonly jwtSecret: Secret;
}

/** A conversation's events without a socket. */
export const conversationEventRoutes: Routes<EventContext> = (app, context) => {
  const { conversations } = context;
  readingRoutes(app, context);

  const answers = { 200: SendAnswer, '4xx': Failure };
  app.post(
    '/api/conversations/:id/message',
    { schema: { params: ById, headers: IdempotencyHeaders, body: SendMessage, response: answers } },
    async (request, reply) => {
      const { params, body } = request;
      const message = { ...MessageAction.create({ content: body.message }), ...(body.client_id && { client_id: body.client_id }) };
      return submitted(reply, conversations, params.id, named(message, request, context), request.principal);
    },
  );
  app.post(
    '/api/conversations/:id/events',
    { schema: { params: ById, headers: IdempotencyHeaders, body: z.record(z.string(), z.unknown()), response: answers } },
    async (request, reply) => {
      const { params, body } = request;
      const decoded = openhandsV0.decode(body);
      if (decoded.type === 'error') return sendFailure(reply, decoded.error);
      if (decoded.type === 'action' || decoded.type === 'start') {
        return submitted(reply, conversations, params.id, named(decoded.action, request, context), request.principal);
      }
      return { success: true };
    },
  );
};

function readingRoutes(app: App, { conversations, eventSearch }: EventContext): void {
  // 0.25 has a route of its own for looking something up.
  for (const url of ['/api/conversations/:id/events', '/api/conversations/:id/events/search'] as const) {
    app.get(
      url,
      { schema: { params: ById, querystring: EventsQuery, response: { 200: EventsPage, '4xx': Failure } } },
      async ({ params, query, raw }, reply) => {
        const filter = await filterInBody(raw);
        const log = await conversations.log(params.id);
        return log ? findEvents(log, { ...query, ...filter }, eventSearch) : fail(reply, 'CONVERSATION_NOT_FOUND', params.id);
      },
    );
  }

  const format = z.enum(['json', 'jsonl', 'atif', 'markdown']).default('json');
  app.get(
    '/api/conversations/:id/trajectory',
    { schema: { params: ById, querystring: z.object({ format }), response: { 200: Trajectory, 404: Failure } } },
    async ({ params, query }, reply) => {
      const log = await conversations.log(params.id);
      if (!log) return fail(reply, 'CONVERSATION_NOT_FOUND', params.id);
      if (query.format === 'json') return sendJsonText(reply, Readable.from(trajectoryText(log)));
      if (query.format === 'atif') return sendJsonText(reply, Readable.from(atifText(log)));
      const [type, text] =
        query.format === 'markdown'
          ? (['text/markdown', markdownText(log)] as const)
          : (['application/x-ndjson', trajectoryLines(log)] as const);
      return (reply as FastifyReply).type(`${type}; charset=utf-8`).send(Readable.from(text)) as never;
    },
  );
}

/** A `client_id` in the body is valid at every endpoint of the conversation; without one the request's key stands for it. */
function named(action: ParsedAction, request: FastifyRequest, context: EventContext): ParsedAction {
  const client_id = action.client_id ?? requestId(request, 'action', context);
  return client_id === undefined ? action : { ...action, client_id };
}

async function submitted(reply: FastifyReply, conversations: Conversations, id: string, action: ParsedAction, by: Caller) {
  const result = await conversations.submit(id, action, { by });
  return result.ok ? { success: true, event_id: result.event.id } : sendFailure(reply, result.error);
}

const MAX_BYTES = 64 * 1024;

/** A filter in the body of a GET, which fastify does not read; nothing when there is no body. Rejects with zod's error, or a SyntaxError. */
async function filterInBody(request: IncomingMessage): Promise<EventFilter> {
  let text = '';
  for await (const chunk of request as AsyncIterable<Buffer>) {
    text += chunk.toString('utf8');
    if (text.length > MAX_BYTES) throw new SyntaxError('the filter is too long');
  }
  if (text.trim() === '') return {};
  const body = JSON.parse(text) as unknown;
  const filter = typeof body === 'object' && body !== null && 'filter' in body ? (body as { filter: unknown }).filter : body;
  return EventFilter.parse(filter ?? {});
}
