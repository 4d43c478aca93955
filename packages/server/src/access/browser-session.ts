import type { FastifyReply, FastifyRequest } from 'fastify';
import { holderOf, identify, type Keyring, type Principal, fingerprintOf } from '../platform/auth/identify.ts';
import { isLoopbackBind, hostnameOf, isLoopbackName } from '../platform/loopback.ts';
import { safePath, sendLoginPage } from './login-page.ts';
import { type AdmitContext, admit } from '../platform/http/admit.ts';
import type { IncomingHttpHeaders } from 'node:http';
import { LOGIN_SECONDS, sessionCookie, sessionCookies } from '../platform/auth/session-cookie.ts';
import type { TokenStores } from '../platform/auth/token-stores.ts';
import type { Config } from '../platform/config/config.ts';

/**
 * Exchanges the token of the printed address for a session, and leads to the same page without it: the token stays in no address bar
 * and no `Referer`. A browser that has one by this key keeps it: the address is often opened again. After a wrong one the app asks
 * for the key. Returns whether it has answered.
 */
export async function enterByToken(context: AdmitContext, request: FastifyRequest, reply: FastifyReply): Promise<boolean> {
  const { config, access, wrongKeys, logger } = context;
  if (!config.localToken || !isLoopbackBind(config.host)) return false;
  const [path = '/', ...query] = request.url.split('?');
  const parameters = new URLSearchParams(query.join('?'));
  const token = parameters.get('token');
  if (token === null) return false;
  parameters.delete('token');
  const rest = parameters.size === 0 ? '' : `?${parameters.toString()}`;
  const ring = { sessionApiKey: config.sessionApiKey, tokens: access };
  const holder = holderOf(token, ring);
  const page = safePath(path + rest);
  const { remoteAddress: address = '' } = request.socket;
  if (!holder && wrongKeys.wrong(address)) logger.warn({ address }, 'a wrong token was refused');
  if (holder && !isSignedIn(request, holder, ring)) {
    const cookie = await startSession(holder, context, request.headers);
    if (cookie === undefined) {
      void sendLoginPage(reply, 503, page, { problem: TOO_MANY_BROWSERS });
      return true;
    }
    request.principal = { ...holder, address };
    void reply.header('set-cookie', cookie);
  }
  void reply.header('cache-control', 'no-store').redirect(page, 303);
  return true;
}

/** By the same key: another may open less. */
function isSignedIn({ headers }: FastifyRequest, { key }: Principal, ring: Keyring): boolean {
  const { cookie } = headers;
  const known = identify({ url: '/', headers: { cookie } }, ring);
  return typeof known === 'object' && known.login !== undefined && known.key === key;
}

export const TOO_MANY_BROWSERS = 'Too many browsers are signed in.';

export interface SessionContext {
  readonly config: Config;
  readonly access: TokenStores;
}

/** Signs a browser in by the key of `holder`. Returns the value of `Set-Cookie`, or `undefined` when too many browsers are signed in. */
export async function startSession(
  { key }: Principal,
  { config, access }: SessionContext,
  headers: IncomingHttpHeaders,
): Promise<string | undefined> {
  const own = config.sessionApiKey && { fingerprint: fingerprintOf(config.sessionApiKey) };
  const by = key === undefined ? own : { id: key };
  const issued = by && (await access.logins.issue({ key: by }, LOGIN_SECONDS));
  return issued && sessionCookie(issued.token, headers);
}

/**
 * Whether a page of the web app is for nobody yet: the server is reached from another machine, and the browser has not signed in. On
 * loopback the app asks for the key itself, unless people sign in at a provider. A shared link brings its own key, which is not sent with the page.
 */
export function needsLogin(context: AdmitContext, request: FastifyRequest): 'login' | 'again' | undefined {
  const { config } = context;
  const { headers, raw, url } = request;
  const isHere = config.oidc === undefined && isLoopbackBind(config.host) && isLoopbackName(hostnameOf(headers.host ?? '') ?? '');
  if (config.sessionApiKey === undefined || isHere || url.startsWith('/shared/')) return undefined;
  if (admit(context, raw, { need: 'read' }).ok) return undefined;
  return headers['sec-fetch-site'] === 'cross-site' && sessionCookies(headers).length === 0 ? 'again' : 'login';
}
