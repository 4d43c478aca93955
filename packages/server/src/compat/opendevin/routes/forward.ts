import type { FastifyReply, FastifyRequest } from 'fastify';
import type { App } from '../../../platform/http/app.ts';
import type { AccessConfig, FolderConfig } from '../../../platform/config/config.ts';
import { catalogError, type CatalogError } from '@tendon/protocol';
import { readToken } from '../../../platform/auth/token.ts';
import { WsSessions, type SessionsContext, type WsSessionRecord } from '../sockets/ws-sessions.ts';
import type { Secret } from '@tendon/protocol/masking';

const KEPT_HEADERS = ['content-type', 'content-disposition'] as const;

export interface ForwardContext {
  readonly config: AccessConfig & FolderConfig;
}

export interface Forwarded {
  readonly conversation: string;
  /** Behind `/api/conversations/<id>/`, with the query. */
  readonly path: string;
  /** Default: what the request brought. */
  readonly body?: object;
}

/**
 * Answers a route that names no conversation by the one of today that does. The request was let in already, so the inner one carries
 * our own name and key.
 */
export async function forward(app: App, { config }: ForwardContext, request: FastifyRequest, { conversation, path, body }: Forwarded) {
  const type = request.headers['content-type'];
  const isJson = type?.startsWith('application/json') ?? false;
  const key = config.sessionApiKey?.reveal();
  const payload = body ?? (isJson ? ((request.body ?? {}) as object) : type === undefined ? undefined : request.raw);
  return app.inject({
    method: request.method as 'GET' | 'POST',
    url: `/api/conversations/${encodeURIComponent(conversation)}/${path}`,
    headers: { host: 'localhost', ...(type && { 'content-type': type }), ...(key && { 'x-session-api-key': key }) },
    ...(payload && { payload }),
    payloadAsStream: true,
  });
}

export async function sendForwarded(reply: FastifyReply, answer: Awaited<ReturnType<typeof forward>>): Promise<FastifyReply> {
  for (const name of KEPT_HEADERS) {
    const value = answer.headers[name];
    if (value !== undefined) void reply.header(name, value);
  }
  return reply.code(answer.statusCode).send(answer.stream());
}

export interface BearerContext extends SessionsContext {
  readonly jwtSecret: Secret;
}

/** `Authorization: Bearer <token>` of the clients of 2024. It says which session is meant, and lets nobody in: `authorize` has done that. */
export type Bearer =
  | { readonly state: 'absent' }
  | { readonly state: 'bad' }
  | { readonly state: 'session'; readonly sid: string; readonly record: WsSessionRecord };

export async function readBearer(request: FastifyRequest, context: BearerContext): Promise<Bearer> {
  const { authorization } = request.headers;
  if (authorization === undefined) return { state: 'absent' };
  const token = /^Bearer\s+(\S+)$/i.exec(authorization)?.[1];
  const sid = token && (await readToken(token, context.jwtSecret));
  return sid ? { state: 'session', sid, record: await seenRecord(request, sid, context) } : { state: 'bad' };
}

/** Without its conversation, where the caller does not see that: the token shows which is meant, and opens nothing. */
async function seenRecord({ principal }: FastifyRequest, sid: string, context: BearerContext): Promise<WsSessionRecord> {
  const record = await WsSessions.of(context).get(sid);
  const { conversation, ...rest } = record;
  return conversation === undefined || (await context.conversations.visibility.sees(principal, conversation)) ? record : rest;
}

/**
 * The conversation that a request without an id means: its token's, or, for opendevin-2024-04, whose file routes know no token, that of the last
 * session that came in by `/api/auth`.
 */
export async function conversationMeant(request: FastifyRequest, context: BearerContext): Promise<string | CatalogError> {
  const bearer = await readBearer(request, context);
  const latest = bearer.state === 'absent' ? await WsSessions.of(context).latest() : undefined;
  if (bearer.state === 'bad') return catalogError('INVALID_TOKEN');
  if (bearer.state === 'absent' && latest === undefined)
    return { ...catalogError('UNAUTHORIZED'), message: 'Missing Authorization header' };
  const record = bearer.state === 'session' ? bearer.record : await seenRecord(request, latest!, context);
  return record.conversation ?? { ...catalogError('CONVERSATION_NOT_FOUND'), message: 'Session not found' };
}
