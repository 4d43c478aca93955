import type { ConfirmationSettings } from '@tendon/core';
import type { BoundSecret } from '@tendon/protocol/masking';
import type { ConversationConfig } from '../../platform/config/config.ts';
import type { StoredConversation } from '../conversation-records.ts';
import type { Conversations } from '../conversations.ts';
import { confirmationOf, type ConfirmationSource } from './confirmation-of.ts';

export interface ConfirmationParts {
  readonly conversations: Pick<Conversations, 'approvals'>;
  readonly settings: ConfirmationSource;
  readonly config: Pick<ConversationConfig, 'confirmationMode' | 'isUnattended' | 'invariantUrl'>;
  readonly boundSecrets: (record: StoredConversation) => readonly BoundSecret[];
}

/** By what the actions of a conversation are judged: the rules of each moment, its own and those of the conversations above it. */
export async function confirmationIn(
  record: StoredConversation,
  { conversations: { approvals }, settings, config, boundSecrets }: ConfirmationParts,
): Promise<() => ConfirmationSettings> {
  const inherited = await approvals.inheritedRules(record);
  return () => {
    const now = approvals.now(record);
    const rules = [...(now.confirmation_rules ?? []), ...inherited()];
    return { ...confirmationOf(now, rules, settings.current, config), secrets: boundSecrets(record) };
  };
}
