import { ConversationRules, Failure, SavedRules, type CatalogError } from '@tendon/protocol';
import { z } from 'zod';
import type { Routes } from '../../platform/http/app.ts';
import { fail, sendFailure } from '../../platform/http/failure.ts';
import { ById } from '../../platform/http/request-parts.ts';
import type { Conversations } from '../conversations.ts';
import type { ConfirmationSource } from './confirmation-of.ts';
import { MAX_RULES, noSuchRule, ruleId, savedRules, tooManyRules, withRules } from './saved-rules.ts';

interface Context {
  readonly conversations: Pick<Conversations, 'get' | 'approvals'>;
  /** The stored settings, which lie above. */
  readonly settings: ConfirmationSource & { removeRule(id: string): Promise<CatalogError | undefined> };
}

const rule = z.string();

/** Ours: saved rules one by one, so that of two people who change them neither takes back what the other did. */
export const ruleRoutes: Routes<Context> = (app, { conversations, settings }) => {
  const response = { 200: SavedRules, '4xx': Failure };
  const ofSettings = () => savedRules(settings.current?.confirmation_rules ?? []);
  app.get('/api/rules', { schema: { response: { 200: SavedRules } } }, async () => ofSettings());
  app.delete('/api/rules/:rule', { schema: { params: z.object({ rule }), response } }, async ({ params }, reply) => {
    const error = await settings.removeRule(params.rule);
    return error ? sendFailure(reply, error) : ofSettings();
  });

  const path = '/api/conversations/:id/confirmation/rules';
  app.get(path, { schema: { params: ById, response } }, async ({ params: { id } }, reply) => {
    const record = await conversations.get(id);
    return record ? savedRules(conversations.approvals.rulesOf(record)) : fail(reply, 'CONVERSATION_NOT_FOUND', id);
  });
  app.post(path, { schema: { params: ById, body: ConversationRules, response } }, async ({ params: { id }, body }, reply) => {
    let refusal: CatalogError | undefined;
    const record = await conversations.approvals.changeRules(id, (rules) => {
      const together = withRules(rules, body.rules);
      refusal = together.length > MAX_RULES ? tooManyRules() : undefined;
      return refusal ? undefined : together;
    });
    if (!record) return fail(reply, 'CONVERSATION_NOT_FOUND', id);
    return refusal ? sendFailure(reply, refusal) : savedRules(conversations.approvals.rulesOf(record));
  });
  app.delete(`${path}/:rule`, { schema: { params: ById.extend({ rule }), response } }, async ({ params }, reply) => {
    let wasThere = false;
    const record = await conversations.approvals.changeRules(params.id, (rules) => {
      const left = rules.filter((each) => ruleId(each) !== params.rule);
      wasThere = left.length < rules.length;
      return wasThere ? left : undefined;
    });
    if (!record) return fail(reply, 'CONVERSATION_NOT_FOUND', params.id);
    return wasThere ? savedRules(conversations.approvals.rulesOf(record)) : sendFailure(reply, noSuchRule());
  });
};
