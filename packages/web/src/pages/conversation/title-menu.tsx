import { ChevronDown } from 'lucide-react';
import { Suspense } from 'react';
import { IconButton } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Late } from '../../ui/placeholder.tsx';
import { Popup } from '../../ui/popup.tsx';
import type { TitleEntriesProps } from './title-entries.tsx';
import { t } from '../../lib/language/text.ts';
import { lazyPart } from '../../lib/lazy-part.ts';

/** Loaded when it is opened. */
const TitleEntries = lazyPart(async () => ({ default: (await import('./title-entries.tsx')).TitleEntries }));

/** What can be done with the conversation as a whole, beside its title. */
export function TitleMenu(props: Omit<TitleEntriesProps, 'close'>) {
  return (
    <Popup
      label={t('Conversation menu')}
      button={(popup) => (
        <IconButton small label={t('Conversation menu')} {...popup}>
          <Icon of={ChevronDown} small />
        </IconButton>
      )}
    >
      {(close) => (
        <Suspense fallback={<Late>{t('Loading')}</Late>}>
          <TitleEntries {...props} close={close} />
        </Suspense>
      )}
    </Popup>
  );
}
