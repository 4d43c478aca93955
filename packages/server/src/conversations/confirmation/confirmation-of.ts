import type { ConfirmationSettings } from '@tendon/core';
import { GitProvider, type ConfirmationMode, type ConfirmationRule, type ChosenBy, type Settings } from '@tendon/protocol';
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
  config: ConfirmationConfig,
): ConfirmationSettings {
  return {
    mode: modeOf(record, settings, config).mode,
    rules: [...own, ...rulesOf(settings, record)],
    analyzer: analyzerOf(record, settings, config).analyzer,
    isUnattended: config.isUnattended,
    deadlineMs: settings?.confirmation_timeout ? settings.confirmation_timeout * 1000 : undefined,
  };
}

type ConfirmationConfig = Pick<ConversationConfig, 'confirmationMode' | 'isUnattended' | 'invariantUrl'>;

/**
 * Frontends know a switch and an analyzer: with an analyzer only what is risky asks, without one everything that no rule allows. What was
 * chosen for a conversation counts before the settings.
 */
export function modeOf(
  record: StoredConversation,
  settings: Settings | undefined,
  config: ConfirmationConfig,
): { readonly mode: ConfirmationMode; readonly by: ChosenBy } {
  const { confirmation_policy: chosen, confirmation_mode: own } = record;
  const policy = settings?.confirmation_policy ?? null;
  const usual: ChosenBy = (settings?.confirmation_mode ?? undefined) === undefined ? 'server' : 'settings';
  if (chosen) return { mode: chosen, by: 'conversation' };
  if (own === false) return { mode: 'never', by: 'conversation' };
  if (policy !== null && (own === undefined || policy !== 'never')) return { mode: policy, by: 'settings' };
  const by = own === undefined ? usual : 'conversation';
  if (!(own ?? settings?.confirmation_mode ?? config.confirmationMode)) return { mode: 'never', by };
  // One that was chosen for the conversation judges risk where risk decides; that it does is not its choice.
  const { by: judge } = analyzerOf({ ...record, confirmation_analyzer: undefined }, settings, config);
  return { mode: judge === 'server' ? 'rules' : 'risk', by };
}

/** Rules of our own, where none was chosen that works. */
export function analyzerOf(
  { confirmation_analyzer: own }: StoredConversation,
  settings: Settings | undefined,
  config: AnalyzerConfig,
): { readonly analyzer: ConfirmationSettings['analyzer']; readonly by: ChosenBy } {
  const known = securityAnalyzers(config);
  const chosen = known.find((name) => name === own);
  if (chosen) return { analyzer: chosen, by: 'conversation' };
  const usual = known.find((name) => name === settings?.security_analyzer);
  return usual ? { analyzer: usual, by: 'settings' } : { analyzer: 'rules', by: 'server' };
}
