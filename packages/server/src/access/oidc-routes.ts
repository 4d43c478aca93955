import type { Clock } from '@tendon/core';
import type { Secret } from '@tendon/protocol/masking';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { SignInResult } from '../platform/auth/user-directory.ts';
import { cookiesIn, isFromSafeOrigin, sessionCookie } from '../platform/auth/session-cookie.ts';
import type { App } from '../platform/http/app.ts';
import { clientAddress } from '../platform/http/client-of.ts';
import { fail } from '../platform/http/failure.ts';
import { createRateLimit, type RateLimit } from '../platform/http/rate-limit.ts';
import type { Logger } from '../platform/logger.ts';
import { TOO_MANY_BROWSERS, type SessionContext } from './browser-session.ts';
import { goOnPage, LOGIN_HEADERS, safePath, sendLoginPage } from './login-page.ts';
import type { LoginProblem, OidcLogin } from './oidc-login.ts';
import { originOf } from '../platform/http/request-parts.ts';

export interface OidcRoutesContext extends SessionContext {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly jwtSecret: Secret;
}

/** Loaded at the first login; `undefined`: the server has no users. */
export type LateOidcLogin = () => Promise<OidcLogin | undefined>;

const START = '/login/oidc';
const CALLBACK = `${START}/callback`;
/** A whole office comes from one address. */
const ATTEMPTS: RateLimit = { burst: 60, perSecond: 2, limitsLoopback: true };
const STATE_SECONDS = 600;
/** A browser takes the second one from a safe origin only, and from nobody below or above it. */
const STATE_COOKIES = ['tendon_oidc', '__Host-tendon_oidc'] as const;

export function lateOidcLogin({ config, jwtSecret, clock }: OidcRoutesContext): LateOidcLogin {
  let made: Promise<OidcLogin> | undefined;
  return async () => {
    if (!config.oidc) return undefined;
    const of = config.oidc;
    return (made ??= import('./oidc-login.ts').then(({ OidcLogin: Login }) => new Login({ config: of, jwtSecret, clock })));
  };
}

/** A browser goes to the identity provider, and comes back with who it is. */
export function oidcRoutes(app: App, context: OidcRoutesContext, oidc: LateOidcLogin): void {
  const hidden = { schema: { hide: true } };
  const secondsToWait = createRateLimit(ATTEMPTS);
  const isTooMany = ({ socket }: FastifyRequest): boolean =>
    secondsToWait(socket.remoteAddress ?? '', context.clock.now().getTime()) !== undefined;
  const provider = context.config.oidc?.issuer.host;

  app.get(START, hidden, async (request, reply) => {
    const login = await oidc();
    if (!login) return fail(reply, 'NOT_FOUND');
    const { next } = request.query as { readonly next?: unknown };
    const path = safePath(typeof next === 'string' ? next : '/');
    if (isTooMany(request)) return fail(reply, 'TOO_MANY_REQUESTS');
    const redirect = context.config.oidc?.redirectUrl?.href ?? originOf(request) + CALLBACK;
    const begun = await login.begin(redirect, path).catch((cause: unknown) => {
      context.logger.warn({ err: cause }, 'the identity provider did not answer');
    });
    if (!begun) return sendLoginPage(reply, 502, path, { problem: words('down', provider!), provider });
    return reply.headers({ 'set-cookie': stateCookie(begun.sealed, request), 'cache-control': 'no-store' }).redirect(begun.url, 303);
  });

  app.get(CALLBACK, hidden, async (request, reply) => {
    const login = await oidc();
    if (!login) return fail(reply, 'NOT_FOUND');
    if (isTooMany(request)) return fail(reply, 'TOO_MANY_REQUESTS');
    const sealed = cookiesIn(request.headers.cookie).find(([name]) => STATE_COOKIES.some((each) => each === name))?.[1];
    const result = await login.complete(request.url.split('?').slice(1).join('?'), sealed);
    // Whatever came of it, this login is over.
    const ended = stateCookie('', request);
    void reply.header('set-cookie', ended);
    if (!result.ok) {
      const { why, detail, next } = result;
      context.logger.warn({ why, detail, address: request.socket.remoteAddress }, 'a login at the identity provider came to nothing');
      return sendLoginPage(reply, STATUS[why], next, { problem: words(why, provider!, detail), provider });
    }
    const signedIn = await context.access.users!.signIn(result.identity);
    return signedIn.ok
      ? enter(context, request, reply, { ...signedIn, next: result.next, ended })
      : turnAway(reply, signedIn.why, result.next);
  });

  function turnAway(reply: FastifyReply, why: Refusal, next: string): FastifyReply {
    context.logger.warn({ why }, 'somebody whom the identity provider knows was not let in');
    return sendLoginPage(reply, 403, next, { problem: REFUSALS[why], provider });
  }
}

interface Entered {
  readonly userId: string;
  readonly organisationId: string;
  readonly next: string;
  /** The cookie that the login needs no more. */
  readonly ended: string;
}

async function enter(
  { access, config, logger }: OidcRoutesContext,
  request: FastifyRequest,
  reply: FastifyReply,
  { userId: user, organisationId: organisation, next, ended }: Entered,
): Promise<FastifyReply> {
  const { sessionSeconds } = config.oidc!;
  const issued = await access.logins.issue({ key: { user, organisation } }, sessionSeconds);
  if (!issued) return sendLoginPage(reply, 503, next, { problem: TOO_MANY_BROWSERS });
  logger.info({ user, organisation }, 'a user has signed in');
  const { held, token } = issued;
  const by = { keyName: `login ${held.id}`, userId: user, organisationId: organisation, scope: undefined };
  request.principal = { ...by, address: clientAddress(request.raw) };
  void reply.removeHeader('set-cookie').header('set-cookie', [ended, sessionCookie(token, request.headers, sessionSeconds), HAS_SIGNED_IN]);
  // Another server, at which the browser may come next, hears of it within a second.
  if (config.databaseUrl) return reply.headers(LOGIN_HEADERS).type('text/html; charset=utf-8').send(goOnPage(next));
  return reply.header('cache-control', 'no-store').redirect(next, 303);
}

/** For the page: it asks who is signed in, and offers this way in when the session has ended. */
const HAS_SIGNED_IN = 'tendon_user=1; Path=/; Max-Age=31536000; SameSite=Strict';

/** The provider leads back here, so it has to travel with a navigation from another site. */
function stateCookie(sealed: string, { headers }: FastifyRequest): string {
  const rest = `Path=/; Max-Age=${sealed === '' ? 0 : STATE_SECONDS}; HttpOnly; SameSite=Lax`;
  return isFromSafeOrigin(headers) ? `${STATE_COOKIES[1]}=${sealed}; ${rest}; Secure` : `${STATE_COOKIES[0]}=${sealed}; ${rest}`;
}

const STATUS = { down: 502, state: 400, refused: 403, invalid: 502 } as const satisfies Record<LoginProblem, number>;

function words(why: LoginProblem, provider: string, detail = ''): string {
  switch (why) {
    case 'down':
      return `${provider}, where people sign in here, does not answer. Try again in a moment. Who is signed in already stays so, and a key of this server opens it below.`;
    case 'state':
      return 'This login was not begun in this browser, was completed already, or took longer than ten minutes. Sign in again.';
    case 'refused':
      return `${provider} did not let you in: ${detail.slice(0, 200)}.`;
    case 'invalid':
      return `The answer of ${provider} cannot be trusted, so nobody was let in. Sign in again; if that does not help, the log of this server says what was wrong, to an admin.`;
  }
}

type Refusal = (SignInResult & { readonly ok: false })['why'];
const REFUSALS = {
  disabled: 'Your account was disabled here. Ask an admin of this server.',
  domain:
    'People with your e-mail address are not let in here, or your identity provider has not verified it. Ask an admin of this server.',
  'no organisation': 'None of your groups belongs to an organisation here. Ask an admin of this server.',
} as const satisfies Record<Refusal, string>;
