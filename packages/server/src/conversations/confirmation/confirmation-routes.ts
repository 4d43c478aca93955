import { awaitsConfirmation, suggestRules } from '@tendon/core';
import {
  AlwaysRule,
  catalogError,
  ChangeConfirmation,
  ConversationConfirmation,
  Failure,
  type CatalogError,
  type ConfirmationRule,
} from '@tendon/protocol';
import type { Conversations } from '../conversations.ts';
import type { StoredConversation } from '../conversation-records.ts';
import type { ConversationConfig } from '../../platform/config/config.ts';
import type { Routes } from '../../platform/http/app.ts';
import { ById } from '../../platform/http/request-parts.ts';
import { fail, sendFailure } from '../../platform/http/failure.ts';
import { analyzerOf, modeOf, providerOf, rulesOf, securityAnalyzers, type ConfirmationSource } from './confirmation-of.ts';

/** What the routes need of the stored settings, which lie above. */
interface RuleSettings extends ConfirmationSource {
  allowAction(rule: ConfirmationRule): Promise<CatalogError | undefined>;
}

interface Context {
  readonly conversations: Conversations;
  readonly settings: RuleSettings;
  readonly config: Pick<ConversationConfig, 'confirmationMode' | 'isUnattended' | 'invariantUrl'>;
}

/** Ours: which actions of a conversation wait for a person, to see and to change while it runs. */
export const conversationConfirmationRoutes: Routes<Context> = (app, { conversations, settings, config }) => {
  const schema = { params: ById, response: { 200: ConversationConfirmation, '4xx': Failure } };
  const path = '/api/conversations/:id/confirmation';

  async function shown(record: StoredConversation): Promise<ConversationConfirmation> {
    const { approvals } = conversations;
    const inherited = await approvals.inheritedRules(record);
    const { mode, by: mode_by } = modeOf(record, settings.current, config);
    const { analyzer, by: analyzer_by } = analyzerOf(record, settings.current, config);
    const waiting = conversations.state(record.id)?.pending.find(awaitsConfirmation);
    const general = [...inherited(), ...rulesOf(settings.current, record)];
    const own = { rules: [...approvals.rulesOf(record)], general_rules: general };
    return { mode, mode_by, analyzer, analyzer_by, ...own, suggestions: waiting ? [...suggestRules(waiting)] : [] };
  }

  app.get(path, { schema }, async ({ params: { id } }, reply) => {
    const record = await conversations.get(id);
    return record ? shown(record) : fail(reply, 'CONVERSATION_NOT_FOUND', id);
  });
  app.put(path, { schema: { ...schema, body: ChangeConfirmation } }, async ({ params: { id }, body }, reply) => {
    const { rules, ...policy } = body;
    const isKnown = !policy.analyzer || securityAnalyzers(config).some((name) => name === policy.analyzer);
    if (!isKnown) return sendFailure(reply, catalogError('INVALID_ARGUMENTS', `analyzer: one of ${securityAnalyzers(config).join(', ')}`));
    // Rules first: what waits is judged by them too.
    if (rules) await conversations.approvals.setRules(id, rules);
    const record = await conversations.approvals.setPolicy(id, policy);
    return record ? shown(record) : fail(reply, 'CONVERSATION_NOT_FOUND', id);
  });
  // A path of its own: it holds in other conversations too, which the table of access gives to fewer.
  app.post(`${path}/always`, { schema: { ...schema, body: AlwaysRule } }, async ({ params: { id }, body: { rule, scope } }, reply) => {
    const record = await conversations.get(id);
    if (!record) return fail(reply, 'CONVERSATION_NOT_FOUND', id);
    const repository = record.selected_repository;
    if (scope === 'repository' && !repository)
      return sendFailure(reply, catalogError('INVALID_ARGUMENTS', 'scope: the conversation has no repository'));
    const { repository: _given, git_provider: _provider, ...bare } = rule;
    const here = { repository: repository!, git_provider: providerOf(record) };
    const error = await settings.allowAction(scope === 'repository' ? { ...bare, ...here } : bare);
    return error ? sendFailure(reply, error) : await shown(record);
  });
};
