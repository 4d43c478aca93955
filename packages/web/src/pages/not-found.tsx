import { paths } from '../lib/paths.ts';
import { Mark } from '../ui/icon.tsx';
import { Link } from '../ui/link.tsx';
import { ThemeButton } from '../ui/theme.tsx';
import { SettingsLink } from './settings-link.tsx';
import { t } from '../lib/language/text.ts';

/** In the frame of every page, so that each of its ways is still there. */
export function NotFound({ isConversation = false }: { readonly isConversation?: boolean }) {
  return (
    <div className="screen">
      <header className="top-bar">
        <Link className="brand" to={paths.home} aria-label={t('Tendon, home')}>
          <Mark />
          Tendon
        </Link>
        <span className="flex-1" />
        <SettingsLink />
        <ThemeButton />
      </header>
      <main className="notice">
        <h1>
          <b>{t('There is no page here')}</b>
        </h1>
        <p>{isConversation ? t('This conversation was deleted or belongs to another server.') : t('The address may be misspelled.')}</p>
        <Link className="button button-line mt-2" to={paths.home}>
          {t('Show all conversations')}
        </Link>
      </main>
    </div>
  );
}
