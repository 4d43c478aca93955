import type { FastifyRequest } from 'fastify';
import { needOf } from '../auth/access-table.ts';
import { corsHeaders } from '../auth/authorize.ts';
import { LOGIN_SECONDS, sessionCookie, sessionCookies } from '../auth/session-cookie.ts';
import { admit, type AdmitContext } from './admit.ts';
import type { App } from './app.ts';
import { sendFailure } from './failure.ts';
import type { Metrics } from '../metrics.ts';
import type { Clock } from '@tendon/core';

interface GuardContext extends AdmitContext {
  readonly metrics: Metrics;
  readonly clock: Clock;
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
      conversation: (request.params as { readonly id?: string } | undefined)?.id,
    });
    void reply.header('x-content-type-options', 'nosniff').header('referrer-policy', 'no-referrer');
    const isPreflight = request.method === 'OPTIONS';
    // Also on a refusal: a page of an allowed origin could else not read why.
    void reply.headers(corsHeaders(request.headers, config, isPreflight));
    if (!access.ok) return sendFailure(reply, access.error);
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

function taskOf({ method, routeOptions: { url = 'an unknown path' } }: FastifyRequest): string {
  return `${method} ${url}`;
}

/** A browser in use stays signed in: past the half of its time a session begins anew. */
async function renewed({ principal, headers }: FastifyRequest, { access, clock }: GuardContext): Promise<string | undefined> {
  const { login } = principal;
  if (!login?.expires_at) return undefined;
  const left = Date.parse(login.expires_at) - clock.now().getTime();
  if (left > (LOGIN_SECONDS * 1000) / 2) return undefined;
  await access.logins.use(login.id, LOGIN_SECONDS);
  const token = sessionCookies(headers).find((each) => access.logins.find(each)?.id === login.id);
  return token && sessionCookie(token, headers);
}
