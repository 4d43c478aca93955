import { authorize } from '../security/authorize.ts';
import { corsHeaders } from '../security/cors-headers.ts';
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
    const isPreflight = request.method === 'OPTIONS';
    void reply.headers(corsHeaders(request.headers, config, isPreflight));
    if (isPreflight) return reply.code(204).send();
  });
  app.addHook('onResponse', async (request, reply) => {
    metrics.answered(reply.statusCode, reply.elapsedTime / 1000);
    const path = request.raw.url?.split('?', 1)[0];
    logger.debug({ method: request.method, path, status: reply.statusCode, ms: Math.round(reply.elapsedTime) }, 'request');
  });
}
