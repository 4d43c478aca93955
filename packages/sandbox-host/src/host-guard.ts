import { type App, sendFailure } from '@tendon/server/platform';
import type { HostContext } from './host-context.ts';
import { hostRefusal } from './host-refusal.ts';

/** Before every route and unknown path. */
export function hostGuard(app: App, context: HostContext): void {
  const refusalOf = hostRefusal(context);
  app.addHook('onRequest', async (request, reply) => {
    void reply.header('x-content-type-options', 'nosniff').header('referrer-policy', 'no-referrer');
    const refusal = refusalOf(request, request.routeOptions.config.isPublic === true ? 'public' : 'admin');
    // Of who has no key nothing more is read.
    if (refusal) return sendFailure(reply.header('connection', 'close'), refusal);
  });
  app.addHook('onResponse', async (request, reply) => {
    const path = request.raw.url?.split('?', 1)[0];
    context.logger.debug({ method: request.method, path, status: reply.statusCode, ms: Math.round(reply.elapsedTime) }, 'request');
  });
}
