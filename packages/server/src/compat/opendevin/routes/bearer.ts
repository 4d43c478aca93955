import { catalogError, type CatalogError } from '@tendon/protocol';
import type { FastifyRequest } from 'fastify';
import type { Engine } from '../../../app/engine.ts';
import { readToken } from '../../../platform/auth/token.ts';
import { WsSessions, type WsSessionRecord } from '../sockets/ws-sessions.ts';

/** `Authorization: Bearer <token>` of the clients of 2024. It says which session is meant, and lets nobody in: `authorize` has done that. */
export type Bearer =
  | { readonly state: 'absent' }
  | { readonly state: 'bad' }
  | { readonly state: 'session'; readonly sid: string; readonly record: WsSessionRecord };

export async function readBearer(request: FastifyRequest, engine: Engine): Promise<Bearer> {
  const { authorization } = request.headers;
  if (authorization === undefined) return { state: 'absent' };
  const token = /^Bearer\s+(\S+)$/i.exec(authorization)?.[1];
  const sid = token && (await readToken(token, engine.jwtSecret));
  return sid ? { state: 'session', sid, record: await WsSessions.of(engine).get(sid) } : { state: 'bad' };
}

/**
 * The conversation that a request without an id means: its token's, or, for W1, whose file routes know no token, that of the last
 * session that came in by `/api/auth`.
 */
export async function conversationMeant(request: FastifyRequest, engine: Engine): Promise<string | CatalogError> {
  const bearer = await readBearer(request, engine);
  const latest = bearer.state === 'absent' ? WsSessions.of(engine).latest : undefined;
  if (bearer.state === 'bad') return catalogError('INVALID_TOKEN');
  if (bearer.state === 'absent' && latest === undefined)
    return { ...catalogError('UNAUTHORIZED'), message: 'Missing Authorization header' };
  const record = bearer.state === 'session' ? bearer.record : await WsSessions.of(engine).get(latest!);
  return record.conversation ?? { ...catalogError('CONVERSATION_NOT_FOUND'), message: 'Session not found' };
}
