/** Finds what a request is about, from its URL and headers, before its body is read. */
import type { IncomingMessage } from 'node:http';
import type { Clock } from '@tendon/core';
import type { Secret } from '@tendon/protocol/masking';
import { readWsRequest } from '../compat/opendevin/sockets/ws-handshake.ts';
import { cookiesIn } from '../platform/auth/session-cookie.ts';
import type { HttpConfig } from '../platform/config/config.ts';
import { ById } from '../platform/http/request-parts.ts';
import { triggerName } from '../platform/nearest-server.ts';
import { previewPlace, type PreviewPlace } from '../platform/preview-site.ts';
import { COOKIE, entryIn } from '../previews/authorize-preview.ts';
import { createPreviewKeys } from '../previews/preview-keys.ts';
import { serverOfSession } from '../realtime/session-ids.ts';

export type Target =
  | { readonly about: 'conversation'; readonly id: string }
  /** The session of a client of 2024, by its token. Without a token the client means the newest session. */
  | { readonly about: 'session'; readonly token: string | undefined }
  /** Something that this server has in memory. */
  | { readonly about: 'server'; readonly id: string }
  /** A conversation that does not exist yet. Requests with the same `key` go to the same server. */
  | { readonly about: 'new'; readonly key?: string };

export interface FoundTarget {
  readonly target: Target;
  /** How the request is authenticated: a key of this server, the link of a preview, or a signature in the request. */
  readonly opensBy: 'key' | 'link' | 'signature';
}

export interface TargetContext {
  readonly config: HttpConfig;
  readonly jwtSecret: Secret;
  readonly clock: Clock;
}

/** `undefined` when every server gives the same answer. */
export function targetOf(request: IncomingMessage, context: TargetContext): FoundTarget | undefined {
  const { url = '/', method, headers } = request;
  const preview = previewPlace(headers.host, context.config.previews);
  if (preview !== undefined) return preview === 'unknown' ? undefined : targetOfPreview(request, preview, context);
  if (method === 'OPTIONS') return undefined;
  const [raw = '/', ...rest] = url.split('?');
  const query = new URLSearchParams(rest.join('?'));
  const path = decoded(raw);
  if (path === undefined) return undefined;
  const target = headers.upgrade === undefined ? targetOfPath(path, query, request) : targetOfSocket(path, query, request);
  // Each endpoint here refuses an invalid id with its own error.
  if (target?.about === 'conversation' && !ById.safeParse(target).success) return undefined;
  return target && { target, opensBy: WEBHOOK.test(path) || path === LOGIN_ANSWER ? 'signature' : 'key' };
}

function targetOfPreview({ url = '/', headers }: IncomingMessage, place: PreviewPlace, context: TargetContext): FoundTarget | undefined {
  const keys = createPreviewKeys(context.jwtSecret, context.clock);
  const entry = entryIn(url)?.token;
  const tokens = [
    ...(entry === undefined ? [] : [entry]),
    ...cookiesIn(headers.cookie).flatMap(([name, value]) => (name === COOKIE ? [value] : [])),
  ];
  for (const token of tokens) {
    const opened = keys.read(token, place);
    if (opened) return { target: { about: 'conversation', id: opened.conversationId }, opensBy: 'link' };
  }
  return undefined;
}

/** Decodes as the router does: unnecessary encoding does not change the address. */
function decoded(path: string): string | undefined {
  try {
    return decodeURI(path);
  } catch {
    return undefined;
  }
}

const ONE = /^\/api\/(?:conversations|sandboxes)\/([^/]+)(?:\/|$)/;
/** Concerns all sandboxes: `reclaim` is not an id. */
const RECLAIM = '/api/sandboxes/reclaim';
const TRIGGER = /^\/api\/triggers\/([^/]+)(?:\/|$)/;
const WEBHOOK = /^\/api\/triggers\/[^/]+\/webhook\/?$/;
/** The server where a login to an MCP server began keeps it in memory until the answer comes. */
const LOGINS = '/api/mcp/logins';
const LOGIN_ANSWER = '/mcp/oauth/callback';
/** Routes where clients of 2024 name no conversation: the token of their session does. */
const OF_SESSION =
  /^(?:\/api)?\/(?:refresh-files|select-file|messages|messages\/total|auth)\/?$|^\/api\/(?:list-files|save-file|upload-files?|submit-feedback|zip-directory|vscode-url|conversation|events\/search|root_task|plan|security\/.*)\/?$/;

function targetOfPath(path: string, query: URLSearchParams, request: IncomingMessage): Target | undefined {
  const { method = 'GET', headers } = request;
  const one = ONE.exec(path)?.[1];
  if (one !== undefined && path.replace(/\/$/, '') !== RECLAIM) return { about: 'conversation', id: one };
  if (path.startsWith('/socket.io')) return targetOfSocketIo(query);
  if (OF_SESSION.test(path)) return { about: 'session', token: bearerOf(headers.authorization) };
  if (path.replace(/\/$/, '') === '/mcp/mcp') return targetOfTools(headers['x-openhands-serverconversation-id']);
  if (path === LOGIN_ANSWER || (path === LOGINS && method === 'POST')) return { about: 'new', key: 'logins to MCP servers' };
  if (method !== 'POST' && method !== 'DELETE') return undefined;
  const trigger = TRIGGER.exec(path)?.[1];
  // One server counts the deliveries of a trigger, and recognizes repeated requests by their key.
  if (trigger !== undefined) return { about: 'new', key: triggerName(trigger) };
  if (path.replace(/\/$/, '') !== '/api/conversations' || method !== 'POST') return undefined;
  const key = headers['idempotency-key'];
  return { about: 'new', ...(typeof key === 'string' && { key: `request ${key}` }) };
}

function targetOfSocket(path: string, query: URLSearchParams, request: IncomingMessage): Target | undefined {
  if (path.startsWith('/socket.io')) return targetOfSocketIo(query);
  const named = query.get('conversation_id');
  if (path === '/shell') return named === null ? undefined : { about: 'conversation', id: named };
  if (path !== '/ws' && path !== '/ws/') return undefined;
  if (named !== null) return { about: 'conversation', id: named };
  const { token, isRefused } = readWsRequest(request);
  if (isRefused) return undefined;
  return token === undefined ? { about: 'new' } : { about: 'session', token };
}

function targetOfSocketIo(query: URLSearchParams): Target | undefined {
  const session = query.get('sid');
  const server = session === null ? undefined : serverOfSession(session);
  if (server !== undefined) return { about: 'server', id: server };
  const named = query.get('conversation_id');
  if (named === '') return undefined;
  return named === null ? { about: 'new' } : { about: 'conversation', id: named };
}

function targetOfTools(named: string | string[] | undefined): Target | undefined {
  if (typeof named !== 'string' || named === '') return undefined;
  return { about: 'conversation', id: named.slice(0, 100).replaceAll('-', '').toLowerCase() };
}

function bearerOf(authorization: string | undefined): string | undefined {
  if (authorization === undefined) return undefined;
  return /^Bearer\s+(\S+)$/i.exec(authorization)?.[1] ?? '';
}
