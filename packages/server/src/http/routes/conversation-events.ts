import { Readable } from 'node:stream';
import type { EventLog } from '@tendon/core';
import {
  EventsPage,
  EventsQuery,
  Failure,
  MessageAction,
  openhandsV0,
  SendAnswer,
  SendMessage,
  StartAction,
  Trajectory,
  type ActionDraft,
  type Event,
  type Frame,
} from '@tendon/protocol';
import { z } from 'zod';
import type { App, Routes } from '../context.ts';
import { ById } from '../conversation-param.ts';
import { fail, sendFailure, sendJsonText } from '../failure.ts';
import type { FastifyReply } from 'fastify';
import type { Conversations } from '../../conversations.ts';

/** A conversation's events without a socket. */
export const conversationEventRoutes: Routes = (app, { engine: { conversations } }) => {
  readingRoutes(app, conversations);

  const answers = { 200: SendAnswer, 400: Failure, 404: Failure };
  app.post(
    '/api/conversations/:id/message',
    { schema: { params: ById, body: SendMessage, response: answers } },
    async ({ params, body }, reply) => submitted(reply, conversations, params.id, MessageAction.create({ content: body.message })),
  );
  app.post(
    '/api/conversations/:id/events',
    { schema: { params: ById, body: z.record(z.string(), z.unknown()), response: answers } },
    async ({ params, body }, reply) => {
      const decoded = openhandsV0.decode(body);
      if (decoded.type === 'error') return sendFailure(reply, decoded.error);
      if (decoded.type === 'action') return submitted(reply, conversations, params.id, decoded.action);
      if (decoded.type === 'start') return submitted(reply, conversations, params.id, StartAction.create({ task: decoded.task }));
      return { success: true };
    },
  );
};

function readingRoutes(app: App, conversations: Conversations): void {
  app.get(
    '/api/conversations/:id/events',
    { schema: { params: ById, querystring: EventsQuery, response: { 200: EventsPage, 404: Failure } } },
    async ({ params, query }, reply) => {
      const log = await conversations.log(params.id);
      return log ? eventsPage(log, query) : fail(reply, 'CONVERSATION_NOT_FOUND', params.id);
    },
  );
  app.get(
    '/api/conversations/:id/trajectory',
    { schema: { params: ById, response: { 200: Trajectory, 404: Failure } } },
    async ({ params }, reply) => {
      const log = await conversations.log(params.id);
      return log ? sendJsonText(reply, Readable.from(trajectoryText(log))) : fail(reply, 'CONVERSATION_NOT_FOUND', params.id);
    },
  );
}

async function submitted(reply: FastifyReply, conversations: Conversations, id: string, action: ActionDraft) {
  const result = await conversations.submit(id, action);
  return result.ok ? { success: true } : sendFailure(reply, result.error);
}

async function eventsPage(log: EventLog, { start_id, end_id, limit, reverse }: EventsQuery): Promise<EventsPage> {
  const to = end_id === undefined ? log.nextId : Math.min(end_id + 1, log.nextId);
  const events = start_id < to ? await log.read({ from: start_id, to, limit: limit + 1, reverse }) : [];
  return { events: events.slice(0, limit).flatMap(storedFrame), has_more: events.length > limit };
}

/** As the replay shows it, with what the replay leaves out. `null` kinds are in no answer. */
function storedFrame(event: Event): readonly Frame[] {
  const replayed = openhandsV0.encode(event, 'replay');
  return replayed.length > 0 ? replayed : openhandsV0.encode(event, 'live');
}

/** Of browsers, and too large to export. */
const LEFT_OUT = new Set([
  'dom_object',
  'axtree_object',
  'active_page_index',
  'last_browser_action',
  'last_browser_action_error',
  'focused_element_bid',
  'extra_element_properties',
  'screenshot',
  'set_of_marks',
]);
const PAGE = 200;

/** Pages of the log as pieces of one JSON document: memory does not grow with the history. */
async function* trajectoryText(log: EventLog): AsyncGenerator<string> {
  const end = log.nextId;
  let separator = '{"trajectory":[';
  for (let from = 0; from < end; from += PAGE) {
    for (const event of await log.read({ from, to: Math.min(end, from + PAGE) })) {
      for (const frame of storedFrame(event)) {
        const extras = frame.extras && Object.fromEntries(Object.entries(frame.extras).filter(([key]) => !LEFT_OUT.has(key)));
        yield separator + JSON.stringify(extras ? { ...frame, extras } : frame);
        separator = ',';
      }
    }
  }
  yield separator === ',' ? ']}' : `${separator}]}`;
}
