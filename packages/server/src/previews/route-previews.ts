import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { takeOver } from '../platform/http/take-over.ts';
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
  takeOver(http, 'request', (_pass, request: IncomingMessage, response: ServerResponse) => {
    if (!isForPreview(request)) return false;
    void serve(context, request, () => response);
    return true;
  });
  takeOver(http, 'upgrade', (_pass, request: IncomingMessage, client: Duplex, head: Buffer) => {
    if (!isForPreview(request)) return false;
    client.on('error', () => client.destroy());
    void serve(context, request, (on) => on(request, client), { client, head });
    return true;
  });
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
