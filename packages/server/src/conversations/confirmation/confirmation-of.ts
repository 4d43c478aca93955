import type { ConfirmationSettings } from '@tendon/core';
import { GitProvider, type ConfirmationMode, type ConfirmationRule, type Settings } from '@tendon/protocol';
import type { ConversationConfig } from '../../platform/config/config.ts';
import type { StoredConversation } from '../conversation-records.ts';

type AnalyzerConfig = Pick<ConversationConfig, 'invariantUrl'>;

/**
 * The analyzers that a client can choose, those that work alone: the server of Invariant that is configured, the word of the agent's
 * model on its own call, the small model, and rules of our own.
 */
export function securityAnalyzers({ invariantUrl }: AnalyzerConfig): readonly ConfirmationSettings['analyzer'][] {
  return [...(invariantUrl ? (['invariant'] as const) : []), 'llm', 'model', 'rules'];
}

function analyzerOf(settings: Settings | undefined, config: AnalyzerConfig): ConfirmationSettings['analyzer'] | undefined {
  return securityAnalyzers(config).find((known) => known === settings?.security_analyzer);
}

export interface ConfirmationSource {
  readonly current: Settings | undefined;
}

/** The rules of the settings that hold in this conversation. */
export function rulesOf(settings: Settings | undefined, record: StoredConversation): readonly ConfirmationRule[] {
  const { selected_repository, rules_repository: here = selected_repository } = record;
  const provider = providerOf(record);
  return (settings?.confirmation_rules ?? []).filter(({ decision, repository, git_provider }) => {
    if (repository === undefined) return true;
    // Whose provider a rule does not name is anybody's with that name: it may forbid, but open nothing.
    return repository === here && (git_provider === undefined ? decision !== 'allow' || provider === 'github' : git_provider === provider);
  });
}

/** Where its repository comes from, as when it is cloned. */
export function providerOf({ git_provider }: Pick<StoredConversation, 'git_provider'>): GitProvider {
  return GitProvider.safeParse(git_provider).data ?? 'github';
}

/** Which actions of the conversation wait for a person: its own choice, the stored settings, the configuration. */
export function confirmationOf(
  record: StoredConversation,
  own: readonly ConfirmationRule[],
  settings: Settings | undefined,
  config: Pick<ConversationConfig, 'confirmationMode' | 'isUnattended' | 'invariantUrl'>,
): ConfirmationSettings {
  return {
    mode: record.confirmation_policy ?? modeOf(record.confirmation_mode, settings, config),
    rules: [...own, ...rulesOf(settings, record)],
    analyzer: analyzerOf(settings, config) ?? 'rules',
    isUnattended: config.isUnattended,
    deadlineMs: settings?.confirmation_timeout ? settings.confirmation_timeout * 1000 : undefined,
  };
}

/**
 * Frontends know a switch and an analyzer: with an analyzer only what is risky asks, without one everything that no rule allows. What a
 * conversation was created with counts before the settings.
 */
function modeOf(
  own: boolean | undefined,
  settings: Settings | undefined,
  config: Pick<ConversationConfig, 'confirmationMode' | 'invariantUrl'>,
): ConfirmationMode {
  const policy = settings?.confirmation_policy ?? null;
  if (own === false) return 'never';
  if (policy !== null && (own === undefined || policy !== 'never')) return policy;
  if (!(own ?? settings?.confirmation_mode ?? config.confirmationMode)) return 'never';
  return analyzerOf(settings, config) ? 'risk' : 'rules';
}
