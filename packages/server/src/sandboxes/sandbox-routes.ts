import { Failure, ReclaimRequest, Reclaimed, SandboxList, type SandboxInfo } from '@tendon/protocol';
import { z } from 'zod';
import { listTitled, type TitledListContext } from './list-titled.ts';
import type { Caller } from '../platform/auth/caller.ts';
import type { Routes } from '../platform/http/app.ts';
import { ById } from '../platform/http/request-parts.ts';
import { fail } from '../platform/http/failure.ts';
import type { SandboxPool } from '@tendon/runtime';

interface SeenConversations {
  readonly visibility: { sees(by: Caller, id: string): Promise<boolean> };
  stop(id: string, by?: Caller): Promise<{ readonly wasRunning: boolean } | undefined>;
}

/** Ours: what sandboxes there are, what they use, and their ends. */
interface SandboxContext {
  readonly conversations: TitledListContext['conversations'] & SeenConversations;
  readonly runtimes: SandboxPool;
  /** Unset: there is no other server. */
  readonly peers?: RemoteSandboxes | undefined;
}

/** Of the other servers, each of which lists and ends its own. */
interface RemoteSandboxes {
  sandboxes(): Promise<readonly SandboxInfo[]>;
  reclaim(request: ReclaimRequest): Promise<readonly Reclaimed[]>;
}

export const sandboxRoutes: Routes<SandboxContext> = (app, { conversations, runtimes, peers }) => {
  app.get('/api/sandboxes', { schema: { response: { 200: SandboxList } } }, async ({ principal }) => {
    const [own, remote] = await Promise.all([listTitled({ conversations, runtimes }), peers?.sandboxes() ?? []]);
    const isListed = new Set(own.map(({ incarnation }) => incarnation));
    const all = [...own, ...remote.filter(({ incarnation }) => !isListed.has(incarnation))];
    const seen = await Promise.all(all.map((one) => conversations.visibility.sees(principal, one.conversation_id)));
    return { sandboxes: all.filter((_one, at) => seen[at]) };
  });
  // The agent stops too: else its next action would start another one.
  const stopping = { params: ById, response: { 200: z.object({ stopped: z.literal(true) }), 404: Failure } };
  app.post('/api/sandboxes/:id/stop', { schema: stopping }, async ({ params: { id }, principal }, reply) => {
    const stopped = await conversations.stop(id, principal);
    return stopped ? { stopped: true as const } : fail(reply, 'CONVERSATION_NOT_FOUND', id);
  });
  app.post('/api/sandboxes/reclaim', { schema: { body: ReclaimRequest, response: { 200: Reclaimed } } }, async ({ body }) => {
    const [own, remote] = await Promise.all([runtimes.reclaim(body), peers?.reclaim(body) ?? []]);
    return remote.reduce((sum, each) => ({ kept: sum.kept + each.kept, reaped: sum.reaped + each.reaped }), own);
  });
};
