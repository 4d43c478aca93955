import { List } from 'lucide-react';
import { Suspense } from 'react';
import { IconButton } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Late } from '../../ui/placeholder.tsx';
import { Popup } from '../../ui/popup.tsx';
import { t } from '../../lib/language/text.ts';
import { lazyPart } from '../../lib/lazy-part.ts';

/** Asked for only when it is looked at. */
export const ConversationNav = lazyPart(async () => ({ default: (await import('./conversation-nav.tsx')).ConversationNav }));

/** The other conversations, where there is no room for them beside this one. */
export function ConversationsPopup({ current }: { readonly current: string }) {
  return (
    <Popup
      label={t('Conversations')}
      button={(popup) => (
        <IconButton label={t('Conversations')} {...popup}>
          <Icon of={List} />
        </IconButton>
      )}
    >
      {() => (
        <Suspense fallback={<Late>{t('Loading conversations')}</Late>}>
          <ConversationNav current={current} />
        </Suspense>
      )}
    </Popup>
  );
}
