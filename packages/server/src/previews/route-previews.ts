import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { previewPlace } from '../platform/preview-site.ts';
import type { PreviewContext, responseOn } from './serve-preview.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { Logger } from '../platform/logger.ts';

interface RoutingContext extends PreviewContext {
  readonly metrics: Metrics;
  readonly logger: Logger;
}

/**
 * Takes what is meant for a preview out of the server's requests and upgrades, before any other listener sees it: programs inside have
 * paths like `/ws`, `/socket.io` and `/api` of their own. Called last, when every other listener is set. What serves previews is loaded by
 * the first visit.
 */
export function routePreviews(http: Server, context: RoutingContext): void {
  const isForPreview = ({ headers }: IncomingMessage): boolean => previewPlace(headers.host, context.config.previews) !== undefined;
  takeOver(http, 'request', (request: IncomingMessage, response: ServerResponse) => {
    if (!isForPreview(request)) return false;
    void serve(context, request, () => response);
    return true;
  });
  takeOver(http, 'upgrade', (request: IncomingMessage, client: Duplex, head: Buffer) => {
    if (!isForPreview(request)) return false;
    client.on('error', () => client.destroy());
    void serve(context, request, (on) => on(request, client), { client, head });
    return true;
  });
}

/** The listeners that were set before get what `take` leaves. */
function takeOver<Args extends unknown[]>(http: Server, event: 'request' | 'upgrade', take: (...args: Args) => boolean): void {
  const others = http.listeners(event) as ((...args: Args) => void)[];
  http.removeAllListeners(event);
  http.on(event, ((...args: Args) => {
    if (!take(...args)) for (const listener of others) listener.apply(http, args);
  }) as () => void);
}

async function serve(
  context: RoutingContext,
  request: IncomingMessage,
  responseFor: (on: typeof responseOn) => ServerResponse,
  upgrade?: { readonly client: Duplex; readonly head: Buffer },
): Promise<void> {
  context.metrics.seen(context.clock.now());
  try {
    const serving = await import('./serve-preview.ts');
    await serving.servePreview(context, request, responseFor(serving.responseOn), upgrade);
  } catch (cause) {
    context.logger.error({ err: cause }, 'a preview failed');
    request.socket.destroy();
  }
}
