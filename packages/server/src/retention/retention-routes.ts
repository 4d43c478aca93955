import type { Clock, Scheduler } from '@tendon/core';
import { Failure, OldConversations, OldConversationsQuery, type OldConversation } from '@tendon/protocol';
import type { Conversations } from '../conversations/conversations.ts';
import type { Config } from '../platform/config/config.ts';
import type { Routes } from '../platform/http/app.ts';
import { fail } from '../platform/http/failure.ts';

interface RetentionContext {
  readonly config: Pick<Config, 'governance'>;
  readonly conversations: Conversations;
  readonly scheduler: Scheduler;
  readonly clock: Clock;
}

const MOST_LISTED = 1_000;

/** Lists the conversations that retention would delete now. */
export const retentionRoutes: Routes<RetentionContext> = (app, { config, clock, ...parts }) => {
  const asking = { querystring: OldConversationsQuery, response: { 200: OldConversations, '4xx': Failure } };
  app.get('/api/retention', { schema: asking }, async ({ query }, reply) => {
    const days = query.days ?? config.governance.retentionDays;
    if (days === undefined) return fail(reply, 'INVALID_ARGUMENTS', 'days: a number is expected, as TENDON_RETENTION_DAYS is not set');
    const { beforeDays, lookAtAll } = await import('./old-conversations.ts');
    const before = beforeDays(days, clock.now());
    const found: OldConversation[] = [];
    for await (const { old } of lookAtAll(parts, before)) {
      if (old && found.push(old) > MOST_LISTED) break;
    }
    return { days, before, conversations: found.slice(0, MOST_LISTED), has_more: found.length > MOST_LISTED };
  });
};
