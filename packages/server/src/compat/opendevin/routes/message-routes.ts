import {
  catalogError,
  isAction,
  MessagesTotal,
  StoredMessages,
  WS_DIALECTS,
  type Event,
  type Frame,
  type WsGeneration,
} from '@tendon/protocol';
import { z } from 'zod';
import { WsSessions } from '../sockets/ws-sessions.ts';
import type { Routes } from '../../../platform/http/app.ts';
import { sendFailure } from '../../../platform/http/failure.ts';
import { readBearer, type Bearer, type BearerContext } from './forward.ts';

/** The newest of a long conversation: these frontends hold it all in one page. */
const MAX_EVENTS = 5_000;
type StoredMessage = StoredMessages['messages'][number];

/** What opendevin-2024-04 to opendevin-2024-06 resume a session from: the frames of both directions, as they were. */
export const messageRoutes: Routes<BearerContext> = (app, context) => {
  const refused = { ...catalogError('UNAUTHORIZED'), status: 403, message: 'Not authenticated' };
  for (const prefix of ['/api', '']) {
    app.get(`${prefix}/messages/total`, { schema: { response: { 200: MessagesTotal } } }, async (request, reply) => {
      const bearer = await readBearer(request, context);
      if (bearer.state === 'absent') return sendFailure(reply, refused) as never;
      return { msg_total: (await messagesOf(bearer, context)).length };
    });
    app.get(`${prefix}/messages`, { schema: { response: { 200: StoredMessages } } }, async (request, reply) => {
      const bearer = await readBearer(request, context);
      if (bearer.state === 'absent') return sendFailure(reply, refused) as never;
      return { messages: await messagesOf(bearer, context) };
    });
    app.delete(`${prefix}/messages`, { schema: { response: { 200: z.object({ ok: z.boolean() }) } } }, async (request, reply) => {
      const bearer = await readBearer(request, context);
      if (bearer.state === 'absent') return sendFailure(reply, refused) as never;
      if (bearer.state === 'session') await WsSessions.of(context).restart(bearer.sid);
      return { ok: true };
    });
  }
};

async function messagesOf(bearer: Bearer, { conversations }: Pick<BearerContext, 'conversations'>): Promise<StoredMessage[]> {
  const id = bearer.state === 'session' ? bearer.record.conversation : undefined;
  const log = id === undefined ? undefined : await conversations.log(id);
  if (!log || bearer.state !== 'session') return [];
  const events = (await log.read({ reverse: true, limit: MAX_EVENTS })).toReversed();
  // More than nothing opens the dialog about an unfinished session; a session with messages is one.
  if (!events.some(isFromUser)) return [];
  return events.flatMap((event) => messagesFor(event, `${id}-${event.id}`, bearer.record.generation ?? 'opendevin-2024-05'));
}

function messagesFor(event: Event, id: string, generation: WsGeneration): StoredMessage[] {
  if (isFromUser(event)) return [{ id, role: 'user', payload: userFrame(event, generation) }];
  return WS_DIALECTS[generation].encode(event, 'replay').map((payload) => ({ id, role: 'assistant', payload }));
}

function isFromUser(event: Event): boolean {
  return isAction(event) && event.source === 'user' && (event.action === 'message' || event.action === 'start');
}

/** The text under every name that one of them reads it from. */
function userFrame(event: Event, generation: WsGeneration): Frame {
  const text =
    isAction(event) && event.action === 'message' ? event.args.content : isAction(event) && event.action === 'start' ? event.args.task : '';
  return { action: generation === 'opendevin-2024-06' ? 'message' : 'start', args: { task: text, message: text, content: text } };
}
