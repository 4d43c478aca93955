import type { ConversationConnection, ConversationSnapshot } from '@tendon/client';
import { createContext, useContext } from 'react';

export interface OpenConversation {
  readonly id: string;
  readonly connection: ConversationConnection;
  readonly snapshot: ConversationSnapshot;
  /** Shows an event in the workbench. */
  readonly show: (target: Shown) => void;
  /** Somebody else's conversation: nothing can be sent. */
  readonly isWatched?: boolean;
}

export type TabName = 'changes' | 'files' | 'terminal' | 'app' | 'plan' | 'raw';

export interface Shown {
  readonly tab: TabName;
  readonly eventId?: number;
}

export const ConversationContext = createContext<OpenConversation | undefined>(undefined);

export function useConversation(): OpenConversation {
  const open = useContext(ConversationContext);
  if (!open) throw new Error('There is no conversation around this component');
  return open;
}
