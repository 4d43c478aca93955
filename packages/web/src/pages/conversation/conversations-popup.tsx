import { List } from 'lucide-react';
import { lazy, Suspense } from 'react';
import { IconButton } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Late } from '../../ui/placeholder.tsx';
import { Popup } from '../../ui/popup.tsx';

/** Asked for only when it is looked at. */
export const ConversationNav = lazy(async () => ({ default: (await import('./conversation-nav.tsx')).ConversationNav }));

/** The other conversations, where there is no room for them beside this one. */
export function ConversationsPopup({ current }: { readonly current: string }) {
  return (
    <Popup
      label="Conversations"
      button={(popup) => (
        <IconButton label="Conversations" {...popup}>
          <Icon of={List} />
        </IconButton>
      )}
    >
      {() => (
        <Suspense fallback={<Late>Loading conversations</Late>}>
          <ConversationNav current={current} />
        </Suspense>
      )}
    </Popup>
  );
}
