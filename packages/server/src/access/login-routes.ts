import type { FastifyReply, FastifyRequest } from 'fastify';
import { holderOf } from '../platform/auth/identify.ts';
import { sessionCookie } from '../platform/auth/session-cookie.ts';
import type { App, Routes } from '../platform/http/app.ts';
import { safePath, sendLoginPage } from './login-page.ts';
import { createRateLimit, type RateLimit } from '../platform/http/rate-limit.ts';
import { startSession, TOO_MANY_BROWSERS, type SessionContext } from './browser-session.ts';
import { lateOidcLogin, oidcRoutes, type OidcRoutesContext } from './oidc-routes.ts';
import { originOf } from '../platform/http/request-parts.ts';

const MAX_FORM_BYTES = 8_192;
/** A person mistypes now and then; nobody else has a reason to ask more often. */
const ATTEMPTS: RateLimit = { burst: 10, perSecond: 1 / 6, limitsLoopback: true };

interface SignInContext extends SessionContext, OidcRoutesContext {}

function providerOf({ config }: SessionContext): string | undefined {
  return config.oidc?.issuer.host;
}

/** A browser signs in with a key and goes on with a cookie. */
export const loginRoutes: Routes<SignInContext> = (app, context) => {
  const hidden = { schema: { hide: true } };
  const oidc = lateOidcLogin(context);
  app.get('/login', hidden, (request, reply) =>
    sendLoginPage(reply, 200, nextOf((request.query as { next?: unknown }).next), { provider: providerOf(context) }),
  );
  app.post('/api/logout', hidden, async (request, reply) => {
    const { login } = request.principal;
    if (login) await context.access.logins.revoke(login.id);
    void reply.header('set-cookie', sessionCookie('', request.headers));
    const redirect = login && 'user' in login.value.key ? await (await oidc())?.logoutUrl(`${originOf(request)}/login`) : undefined;
    return redirect === undefined ? reply.code(204).send() : reply.send({ redirect });
  });
  oidcRoutes(app, context, oidc);
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
  const provider = providerOf(context);
  const { remoteAddress = '' } = request.socket;
  const seconds = secondsToWait(remoteAddress, clock.now().getTime());
  if (seconds !== undefined) {
    const problem = `Too many attempts. Try again in ${seconds} seconds.`;
    return sendLoginPage(reply.header('retry-after', String(seconds)), 429, path, { problem, provider });
  }
  const holder = typeof key === 'string' ? holderOf(key.trim(), { sessionApiKey: config.sessionApiKey, tokens: access }) : undefined;
  if (!holder) {
    logger.warn({ address: remoteAddress }, 'a wrong key was refused at the login page');
    return sendLoginPage(reply, 401, path, { problem: 'This key opens nothing here.', provider });
  }
  request.principal = { ...holder, address: remoteAddress };
  const cookie = await startSession(holder, context, request.headers);
  if (cookie === undefined) return sendLoginPage(reply, 503, path, { problem: TOO_MANY_BROWSERS, provider });
  return reply.header('set-cookie', cookie).header('cache-control', 'no-store').redirect(path, 303);
}

function nextOf(next: unknown): string {
  return safePath(typeof next === 'string' ? next : '/');
}
