import { type ReactNode, useMemo, useRef } from 'react';
import { ConversationActsContext, ConversationContext, type OpenConversation } from './open-conversation.ts';

/** Gives what stands in it the conversation, and what is drawn often the part of it that does not change with every event. */
export function ConversationProvider({ open, children }: { readonly open: OpenConversation; readonly children: ReactNode }) {
  const { id, connection, isWatched } = open;
  const show = useRef(open.show);
  show.current = open.show;
  const acts = useMemo(
    () => ({
      id,
      connection,
      show: ((target) => show.current(target)) satisfies OpenConversation['show'],
      ...(isWatched && { isWatched }),
    }),
    [id, connection, isWatched],
  );
  return (
    <ConversationActsContext value={acts}>
      <ConversationContext value={open}>{children}</ConversationContext>
    </ConversationActsContext>
  );
}
