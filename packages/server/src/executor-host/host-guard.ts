import { catalogError } from '@tendon/protocol';
import type { App } from '../http/context.ts';
import { sendFailure } from '../http/failure.ts';
import { LOOPBACK_SITE } from '../previews/preview-site.ts';
import { authorize } from '../security/authorize.ts';
import type { HostContext } from './host-context.ts';

/**
 * Before every route and unknown path. Programs come in, pages do not: whoever sends an `Origin` is refused. With a key every
 * request carries it as a header (in an address it would end in logs), but for those whose route says that it is public.
 */
export function hostGuard(app: App, { access: { host, allowedHosts, key }, logger }: HostContext): void {
  // A name that was rebound to this machine is of use to a page only, and only where no key is asked for.
  const rules = { host, allowedHosts: key ? ['*'] : allowedHosts, corsOrigins: [], sessionApiKey: key, previews: LOOPBACK_SITE };
  app.addHook('onRequest', async (request, reply) => {
    void reply.header('x-content-type-options', 'nosniff').header('referrer-policy', 'no-referrer');
    const { headers, socket, routeOptions } = request;
    if (headers.origin !== undefined) return sendFailure(reply, catalogError('ORIGIN_NOT_ALLOWED', headers.origin.slice(0, 100)));
    const need = routeOptions.config.isPublic === true ? 'public' : 'admin';
    const access = authorize({ method: request.method, url: '/', headers, localAddress: socket.localAddress, need }, rules);
    if (!access.ok) return sendFailure(reply, access.error);
  });
  app.addHook('onResponse', async (request, reply) => {
    const path = request.raw.url?.split('?', 1)[0];
    logger.debug({ method: request.method, path, status: reply.statusCode, ms: Math.round(reply.elapsedTime) }, 'request');
  });
}
