import type { FastifyReply, FastifyRequest } from 'fastify';
import { holderOf } from '../platform/auth/identify.ts';
import { sessionCookie } from '../platform/auth/session-cookie.ts';
import type { App, Routes } from '../platform/http/app.ts';
import { safePath, sendLoginPage } from './login-page.ts';
import { createRateLimit, type RateLimit } from '../platform/http/rate-limit.ts';
import { startSession, TOO_MANY_BROWSERS, type SessionContext } from './browser-session.ts';
import type { Clock } from '@tendon/core';
import type { Logger } from '../platform/logger.ts';

const MAX_FORM_BYTES = 8_192;
/** A person mistypes now and then; nobody else has a reason to ask more often. */
const ATTEMPTS: RateLimit = { burst: 10, perSecond: 1 / 6, limitsLoopback: true };

interface SignInContext extends SessionContext {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A browser signs in with a key and goes on with a cookie. */
export const loginRoutes: Routes<SignInContext> = (app, context) => {
  const hidden = { schema: { hide: true } };
  app.get('/login', hidden, (request, reply) => sendLoginPage(reply, 200, nextOf((request.query as { next?: unknown }).next)));
  app.post('/api/logout', hidden, async ({ principal, headers }, reply) => {
    if (principal.login) await context.access.logins.revoke(principal.login.id);
    return reply.code(204).header('set-cookie', sessionCookie('', headers)).send();
  });
  // Forms are read here and nowhere else: any page can send one.
  void app.register(async (scope: App) => {
    scope.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string', bodyLimit: MAX_FORM_BYTES },
      (_request, body, done) => done(null, Object.fromEntries(new URLSearchParams(body as string))),
    );
    const secondsToWait = createRateLimit(ATTEMPTS);
    scope.post('/login', { ...hidden, bodyLimit: MAX_FORM_BYTES }, (request, reply) => signIn(context, secondsToWait, request, reply));
  });
};

type SecondsToWait = ReturnType<typeof createRateLimit>;

async function signIn(context: SignInContext, secondsToWait: SecondsToWait, request: FastifyRequest, reply: FastifyReply) {
  const { access, config, clock, logger } = context;
  const { key = '', next } = (request.body ?? {}) as { readonly key?: string; readonly next?: unknown };
  const path = nextOf(next);
  const { remoteAddress = '' } = request.socket;
  const seconds = secondsToWait(remoteAddress, clock.now().getTime());
  if (seconds !== undefined) {
    return sendLoginPage(reply.header('retry-after', String(seconds)), 429, path, `Too many attempts. Try again in ${seconds} seconds.`);
  }
  const holder = typeof key === 'string' ? holderOf(key.trim(), { sessionApiKey: config.sessionApiKey, tokens: access }) : undefined;
  if (!holder) {
    logger.warn({ address: remoteAddress }, 'a wrong key was refused at the login page');
    return sendLoginPage(reply, 401, path, 'This key opens nothing here.');
  }
  request.principal = { ...holder, address: remoteAddress };
  const cookie = await startSession(holder, context, request.headers);
  if (cookie === undefined) return sendLoginPage(reply, 503, path, TOO_MANY_BROWSERS);
  return reply.header('set-cookie', cookie).header('cache-control', 'no-store').redirect(path, 303);
}

function nextOf(next: unknown): string {
  return safePath(typeof next === 'string' ? next : '/');
}
