import { setImmediate } from 'node:timers/promises';
import { wouldLift } from '@tendon/core';
import { ConversationRules, Failure, RuleTrial } from '@tendon/protocol';
import type { Routes } from '../../platform/http/app.ts';
import { fail } from '../../platform/http/failure.ts';
import { ById } from '../../platform/http/request-parts.ts';
import type { Conversations } from '../conversations.ts';
import { confirmationIn, type ConfirmationParts } from './confirmation-in.ts';
import { pastDecisions } from './past-decisions.ts';

interface Context extends ConfirmationParts {
  readonly conversations: Pick<Conversations, 'get' | 'log' | 'approvals'>;
}

/** Ours: what rules would have made of the last decisions of a conversation, by the policy that judges its next action. Nothing is saved. */
export const ruleTrialRoutes: Routes<Context> = (app, context) => {
  const { conversations } = context;
  const schema = { params: ById, body: ConversationRules, response: { 200: RuleTrial, '4xx': Failure } };
  app.post('/api/conversations/:id/confirmation/trial', { schema }, async ({ params: { id }, body: { rules } }, reply) => {
    const record = await conversations.get(id);
    const log = await conversations.log(id);
    if (!record || !log) return fail(reply, 'CONVERSATION_NOT_FOUND', id);
    const confirmation = (await confirmationIn(record, context))();
    const decisions = await pastDecisions(log);
    const trial = { decisions: decisions.length, allowed: 0, rejected: 0 };
    for (const { action, isApproved } of decisions) {
      if (wouldLift(action, rules, confirmation)) {
        trial.allowed++;
        if (!isApproved) trial.rejected++;
      }
      // Lines and rules may be long: others have their turn between two.
      await setImmediate();
    }
    return trial;
  });
};
