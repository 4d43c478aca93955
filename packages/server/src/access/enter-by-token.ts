import type { FastifyReply, FastifyRequest } from 'fastify';
import { holderOf, identify, type Keyring, type Principal } from '../platform/auth/identify.ts';
import { isLoopbackBind } from '../platform/loopback.ts';
import { safePath, sendLoginPage } from './login-page.ts';
import { startSession, TOO_MANY_BROWSERS } from './start-session.ts';
import type { AdmitContext } from '../platform/http/admit.ts';

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
  const ring = { sessionApiKey: config.sessionApiKey, books: access };
  const holder = holderOf(token, ring);
  const page = safePath(path + rest);
  const { remoteAddress: address = '' } = request.socket;
  if (!holder && wrongKeys.wrong(address)) logger.warn({ address }, 'a wrong token was refused');
  if (holder && !isSignedIn(request, holder, ring)) {
    const cookie = await startSession(holder, context, request.headers);
    if (cookie === undefined) {
      void sendLoginPage(reply, 503, page, TOO_MANY_BROWSERS);
      return true;
    }
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
