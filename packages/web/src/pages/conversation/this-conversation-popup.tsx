import { SlidersHorizontal } from 'lucide-react';
import { Suspense } from 'react';
import { IconButton } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Late } from '../../ui/placeholder.tsx';
import { Popup } from '../../ui/popup.tsx';
import { t } from '../../lib/language/text.ts';
import { lazyPart } from '../../lib/lazy-part.ts';

/** Asked for only when it is looked at. */
const ThisConversation = lazyPart(async () => ({ default: (await import('./this-conversation.tsx')).ThisConversation }));

/** What holds in this conversation: what of it is its own, and where the rest is chosen. */
export function ThisConversationPopup() {
  return (
    <Popup
      label={t('This conversation')}
      align="end"
      button={(popup) => (
        <IconButton label={t('This conversation')} {...popup}>
          <Icon of={SlidersHorizontal} />
        </IconButton>
      )}
    >
      {() => (
        <Suspense fallback={<Late>{t('Reading what holds here')}</Late>}>
          <ThisConversation />
        </Suspense>
      )}
    </Popup>
  );
}
