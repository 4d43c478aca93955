import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import { catalogError, type CatalogError } from '@tendon/protocol';
import { authorize, LOOPBACK_SITE } from '@tendon/server/platform';
import type { HostContext } from './host-context.ts';

interface Asked {
  readonly method?: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly socket: Pick<Socket, 'localAddress'>;
}

/**
 * Why a request is refused, if it is; routes and upgrades ask it alike. Programs come in, pages do not: a request with an `Origin`
 * is refused. With a key every request carries it as a header (in an address it would end in logs), but for public routes.
 */
export function hostRefusal({ access: { host, allowedHosts, key } }: Pick<HostContext, 'access'>) {
  // A name that was rebound to this machine is of use to a page only, and only where no key is asked for.
  const rules = {
    host,
    allowedHosts: key ? ['*'] : allowedHosts,
    corsOrigins: [],
    sessionApiKey: key,
    previews: LOOPBACK_SITE,
    container: { ports: [] },
  };
  return ({ method = 'GET', headers, socket }: Asked, need: 'public' | 'admin'): CatalogError | undefined => {
    if (headers.origin !== undefined) return catalogError('ORIGIN_NOT_ALLOWED', headers.origin.slice(0, 100));
    const access = authorize({ method, url: '/', headers, localAddress: socket.localAddress, need }, rules);
    return access.ok ? undefined : access.error;
  };
}
