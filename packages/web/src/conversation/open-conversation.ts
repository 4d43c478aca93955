import type { ConversationConnection, ConversationSnapshot } from '@tendon/client';
import type { Action } from '@tendon/protocol';
import type { ConversationState } from '@tendon/protocol/reduce';
import { createContext, use, useContext, useSyncExternalStore } from 'react';

export interface OpenConversation {
  readonly id: string;
  readonly connection: ConversationConnection;
  readonly snapshot: ConversationSnapshot;
  /** Shows an event in the workbench. */
  readonly show: (target: Shown) => void;
  /** Where one column shows either: from a panel back to the conversation. */
  readonly toConversation?: () => void;
  /** Somebody else's conversation: nothing can be sent. */
  readonly isWatched?: boolean;
}

export type TabName = 'changes' | 'files' | 'terminal' | 'notebook' | 'browser' | 'app' | 'plan' | 'timeline' | 'raw';

/** For who watches by a link: what the log alone shows, as a link reads nothing else. */
export const WATCHED_TABS: readonly TabName[] = ['changes', 'plan', 'raw'];

export interface Shown {
  readonly tab: TabName;
  readonly eventId?: number;
  /** Of the terminal: the person's own shell. */
  readonly isOwn?: boolean;
}

export const ConversationContext = createContext<OpenConversation | undefined>(undefined);

/** What of it stays the same while events come. */
export type ConversationActs = Omit<OpenConversation, 'snapshot'>;

export const ConversationActsContext = createContext<ConversationActs | undefined>(undefined);

export function useConversation(): OpenConversation {
  const open = useContext(ConversationContext);
  if (!open) throw new Error('There is no conversation around this component');
  return open;
}

/** For what is drawn often: it is not drawn again because an event came. */
export function useConversationActs(): ConversationActs {
  const open = use(ConversationActsContext) ?? use(ConversationContext);
  if (!open) throw new Error('There is no conversation around this component');
  return open;
}

/** One fact of what the page shows: what is drawn by it is drawn again when it is another one, not with every event. */
export function useFact<T>(factOf: (snapshot: ConversationSnapshot) => T): T {
  const { connection } = useConversationActs();
  return useSyncExternalStore(connection.subscribe, () => factOf(connection.getSnapshot()));
}

/** The action that waits for a person, if one does. */
export function openDecision(state: ConversationState): Action | undefined {
  if (state.agentState !== 'awaiting_user_confirmation') return undefined;
  return (
    state.pending.findLast((action) => 'confirmation_state' in action.args && action.args.confirmation_state === 'awaiting_confirmation') ??
    state.pending.at(-1)
  );
}
