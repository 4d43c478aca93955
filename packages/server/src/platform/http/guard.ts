import type { FastifyRequest } from 'fastify';
import { namesConversation, needOf, reachOf } from '../auth/access-table.ts';
import type { Caller } from '../auth/caller.ts';
import type { Principal } from '../auth/identify.ts';
import { corsHeaders } from '../auth/authorize.ts';
import { LOGIN_SECONDS, sessionCookie, sessionCookies } from '../auth/session-cookie.ts';
import { admit, type AdmitContext } from './admit.ts';
import type { App } from './app.ts';
import { sendFailure } from './failure.ts';
import type { Metrics } from '../metrics.ts';
import type { Clock } from '@tendon/core';
import { catalogError, type CatalogError } from '@tendon/protocol';

interface GuardContext extends AdmitContext {
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly conversations: { readonly visibility: { sees(caller: Caller, id: string): Promise<boolean> } };
}

/** Puts `authorize` before every route and unknown path, and the headers that keep browsers in bounds on every answer. */
export function guard(app: App, context: GuardContext): void {
  const { config, metrics, clock, logger } = context;
  app.decorateRequest('principal');
  app.addHook('onRequest', async (request, reply) => {
    metrics.seen(clock.now());
    metrics.loop.begun(taskOf(request));
    const access = admit(context, request.raw, {
      need: needOf(request.method, request.routeOptions.url),
      reach: reachOf(request.method, request.routeOptions.url),
      conversation: idIn(request),
    });
    void reply.header('x-content-type-options', 'nosniff').header('referrer-policy', 'no-referrer');
    const isPreflight = request.method === 'OPTIONS';
    // Also on a refusal: a page of an allowed origin could else not read why.
    void reply.headers(corsHeaders(request.headers, config, isPreflight));
    if (!access.ok) return sendFailure(reply, access.error);
    const hidden = await hiddenFrom(access.principal, request, context);
    if (hidden) return sendFailure(reply, hidden);
    request.principal = access.principal;
    const cookie = await renewed(request, context);
    if (cookie !== undefined) void reply.header('set-cookie', cookie);
    if (isPreflight) return reply.code(204).send();
  });
  app.addHook('onSend', (request, _reply, _payload, done) => {
    metrics.loop.ended(taskOf(request));
    done();
  });
  app.addHook('onResponse', async (request, reply) => {
    metrics.answered(reply.statusCode, reply.elapsedTime / 1000);
    const path = request.raw.url?.split('?', 1)[0];
    logger.debug({ method: request.method, path, status: reply.statusCode, ms: Math.round(reply.elapsedTime) }, 'request');
  });
}

function idIn({ params }: FastifyRequest): string | undefined {
  return (params as { readonly id?: string } | undefined)?.id;
}

/** What of another organisation is answered like what does not exist. */
async function hiddenFrom(
  principal: Principal,
  request: FastifyRequest,
  { conversations }: GuardContext,
): Promise<CatalogError | undefined> {
  if (principal.userId === undefined || !namesConversation(request.routeOptions.url)) return undefined;
  const id = idIn(request) ?? '';
  return (await conversations.visibility.sees(principal, id)) ? undefined : catalogError('CONVERSATION_NOT_FOUND', id.slice(0, 100));
}

function taskOf({ method, routeOptions: { url = 'an unknown path' } }: FastifyRequest): string {
  return `${method} ${url}`;
}

/** A browser in use stays signed in: past the half of its time a session begins anew. */
async function renewed({ principal, headers }: FastifyRequest, { access, clock }: GuardContext): Promise<string | undefined> {
  const { login } = principal;
  // Who signed in at the identity provider is asked again when the time is over: groups may have changed.
  if (!login?.expires_at || 'user' in login.value.key) return undefined;
  const left = Date.parse(login.expires_at) - clock.now().getTime();
  if (left > (LOGIN_SECONDS * 1000) / 2) return undefined;
  await access.logins.use(login.id, LOGIN_SECONDS);
  const token = sessionCookies(headers).find((each) => access.logins.find(each)?.id === login.id);
  return token && sessionCookie(token, headers);
}
