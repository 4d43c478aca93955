import type { FastifyReply, FastifyRequest } from 'fastify';
import { holderOf } from '../security/identify.ts';
import { isLoopbackBind } from '../security/loopback.ts';
import type { ServerContext } from './context.ts';
import { safePath } from './login-page.ts';
import { startSession } from './start-session.ts';

/**
 * Exchanges the token of the printed address for a session, and leads to the same page without it: the token stays in no address bar
 * and no `Referer`. After a wrong one the app asks for the key. Returns whether it has answered.
 */
export async function enterByToken(context: ServerContext, request: FastifyRequest, reply: FastifyReply): Promise<boolean> {
  const { config, engine, wrongKeys, logger } = context;
  if (!config.localToken || !isLoopbackBind(config.host)) return false;
  const [path = '/', ...query] = request.url.split('?');
  const parameters = new URLSearchParams(query.join('?'));
  const token = parameters.get('token');
  if (token === null) return false;
  parameters.delete('token');
  const rest = parameters.size === 0 ? '' : `?${parameters.toString()}`;
  const holder = holderOf(token, { sessionApiKey: config.sessionApiKey, books: engine.access });
  const { remoteAddress: address = '' } = request.socket;
  if (!holder && wrongKeys.wrong(address)) logger.warn({ address }, 'a wrong token was refused');
  const cookie = holder && (await startSession(holder, context, request.headers));
  if (cookie !== undefined) void reply.header('set-cookie', cookie);
  void reply.header('cache-control', 'no-store').redirect(safePath(path + rest), 303);
  return true;
}
