import type { FastifyReply, FastifyRequest } from 'fastify';
import { authorize, isOriginAllowed, type AccessRules } from '../security/authorize.ts';
import type { App, ServerContext } from './context.ts';
import { sendFailure } from './failure.ts';

/** Puts `authorize` before every route and unknown path, and the headers that keep browsers in bounds on every answer. */
export function guard(app: App, { config, metrics, clock, logger }: ServerContext): void {
  app.addHook('onRequest', async (request, reply) => {
    metrics.seen(clock.now());
    const refusal = authorize(
      {
        url: request.raw.url ?? '/',
        headers: request.headers,
        localAddress: request.socket.localAddress,
        isPublic: request.method === 'OPTIONS' || request.routeOptions.config.isPublic === true,
      },
      config,
    );
    void reply.header('x-content-type-options', 'nosniff').header('referrer-policy', 'no-referrer');
    if (refusal) return sendFailure(reply, refusal);
    allowOrigin(request, reply, config);
    if (request.method === 'OPTIONS') return answerPreflight(request, reply);
  });
  app.addHook('onResponse', async (request, reply) => {
    metrics.answered(reply.statusCode, reply.elapsedTime / 1000);
    const path = request.raw.url?.split('?', 1)[0];
    logger.debug({ method: request.method, path, status: reply.statusCode, ms: Math.round(reply.elapsedTime) }, 'request');
  });
}

function allowOrigin(request: FastifyRequest, reply: FastifyReply, rules: AccessRules): void {
  const { origin, host } = request.headers;
  void reply.header('vary', 'Origin');
  if (origin === undefined || host === undefined || !isOriginAllowed(origin, host, rules)) return;
  void reply.header('access-control-allow-origin', origin).header('access-control-allow-credentials', 'true');
}

function answerPreflight(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return reply
    .header('access-control-allow-methods', 'GET, HEAD, POST, PUT, PATCH, DELETE')
    .header('access-control-allow-headers', request.headers['access-control-request-headers'] ?? '*')
    .header('access-control-max-age', '600')
    .code(204)
    .send();
}
