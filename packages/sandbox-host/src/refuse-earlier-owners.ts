import { FENCED_STATUS } from '@tendon/protocol/executor-api';
import { type App, failureWith } from '@tendon/server/platform';
import type { HostContext } from './host-context.ts';
import { ownerEpochOf } from './owner-epoch.ts';
import { isRelayed } from './routes/executor-routes.ts';

/** In front of every route that is about one sandbox or one conversation: an earlier owner changes nothing. Executors ask the same again. */
export function refuseEarlierOwners(app: App, { sandboxes }: Pick<HostContext, 'sandboxes'>): void {
  app.addHook('preHandler', async (request, reply) => {
    const epoch = ownerEpochOf(request.headers);
    const { params, body } = request as { readonly params?: Readonly<Record<string, string>>; readonly body?: unknown };
    const isStart = request.method === 'PUT' && request.routeOptions.url === '/sandboxes/:incarnation';
    const id = isStart ? (body as { readonly conversation_id: string }).conversation_id : params?.id;
    const about = id === undefined ? params?.incarnation : undefined;
    if (id === undefined && about === undefined) return undefined;
    const refusal = await sandboxes.fenced(
      about === undefined ? { conversationId: id! } : { incarnation: about },
      epoch,
      // What an executor answers it refuses itself: it knows which of its routes only look.
      request.method !== 'GET' && !isRelayed(request.routeOptions.url),
    );
    return refusal === undefined ? undefined : reply.code(FENCED_STATUS).send(failureWith(refusal));
  });
}
