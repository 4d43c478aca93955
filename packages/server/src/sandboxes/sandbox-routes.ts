import { Failure, ReclaimRequest, Reclaimed, SandboxList } from '@tendon/protocol';
import { z } from 'zod';
import { listTitled, type TitledListContext } from './list-titled.ts';
import type { Caller } from '../platform/auth/caller.ts';
import type { Routes } from '../platform/http/app.ts';
import { ById } from '../platform/http/request-parts.ts';
import { fail } from '../platform/http/failure.ts';
import type { SandboxPool } from '@tendon/runtime';

/** Ours: what sandboxes there are, what they use, and their ends. */
interface SandboxContext {
  readonly conversations: TitledListContext['conversations'] & {
    stop(id: string, by?: Caller): Promise<{ readonly wasRunning: boolean } | undefined>;
  };
  readonly runtimes: SandboxPool;
}

export const sandboxRoutes: Routes<SandboxContext> = (app, { conversations, runtimes }) => {
  app.get('/api/sandboxes', { schema: { response: { 200: SandboxList } } }, async () => ({
    sandboxes: await listTitled({ conversations, runtimes }),
  }));
  // The agent stops too: else its next action would start another one.
  const stopping = { params: ById, response: { 200: z.object({ stopped: z.literal(true) }), 404: Failure } };
  app.post('/api/sandboxes/:id/stop', { schema: stopping }, async ({ params: { id }, principal }, reply) => {
    const stopped = await conversations.stop(id, principal);
    return stopped ? { stopped: true as const } : fail(reply, 'CONVERSATION_NOT_FOUND', id);
  });
  app.post('/api/sandboxes/reclaim', { schema: { body: ReclaimRequest, response: { 200: Reclaimed } } }, ({ body }) =>
    runtimes.reclaim(body),
  );
};
