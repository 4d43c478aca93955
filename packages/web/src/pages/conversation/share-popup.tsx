import { Share2 } from 'lucide-react';
import { Suspense } from 'react';
import { useConversationActs } from '../../conversation/open-conversation.ts';
import { IconButton } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Late } from '../../ui/placeholder.tsx';
import { Popup } from '../../ui/popup.tsx';
import { t } from '../../lib/language/text.ts';
import { lazyPart } from '../../lib/lazy-part.ts';

/** Loaded when it is opened. */
const Shares = lazyPart(async () => ({ default: (await import('./shares.tsx')).Shares }));

/** Who else may see this conversation. */
export function SharePopup() {
  const { id } = useConversationActs();
  return (
    <Popup
      label={t('Share read-only')}
      align="end"
      button={(popup) => (
        <IconButton id="share" label={t('Share read-only')} {...popup}>
          <Icon of={Share2} />
        </IconButton>
      )}
    >
      {() => (
        <Suspense fallback={<Late>{t('Loading links')}</Late>}>
          <Shares id={id} />
        </Suspense>
      )}
    </Popup>
  );
}
