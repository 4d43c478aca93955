import { Suspense, useEffect } from 'react';
import { useQuery } from '@tanstack/react-query';
import { whoAmIQuery } from '../../lib/who-am-i.ts';
import { paths } from '../../lib/paths.ts';
import { cx } from '../../ui/cx.ts';
import { Mark } from '../../ui/icon.tsx';
import { Late } from '../../ui/placeholder.tsx';
import { ThemeButton } from '../../ui/theme.tsx';
import { PageTitle } from './section-heading.tsx';
import { SETTINGS_PAGES } from './settings-pages.ts';
import { Link } from '../../ui/link.tsx';
import { t } from '../../lib/language/text.ts';

/** The settings, one page for each subject, each with a note for whom it applies. */
export function SettingsPage({ name }: { readonly name: string | undefined }) {
  const page = name === undefined ? SETTINGS_PAGES[0] : SETTINGS_PAGES.find(({ id }) => id === name);
  const hasUsers = useQuery(whoAmIQuery).data?.has_users === true;
  const title = t(page?.title ?? 'Settings');
  useEffect(() => {
    document.title = `${title} · ${t('Settings')} · Tendon`;
  }, [title]);
  return (
    <div className="screen">
      <header className="top-bar">
        <Link className="brand" to={paths.home} aria-label={t('Tendon, home')}>
          <Mark />
          Tendon
        </Link>
        <span className="flex-1" />
        <ThemeButton />
      </header>
      <main className="home scroll" aria-label={t('Settings')}>
        <div className="settings-columns">
          <nav aria-label={t('Settings')}>
            <ul>
              {SETTINGS_PAGES.filter(({ isOfUsers }) => hasUsers || !isOfUsers).map(({ id, title: words }) => (
                <li key={id}>
                  <Link
                    to={paths.settingsPage(id)}
                    ref={id === page?.id ? showInStrip : undefined}
                    aria-current={id === page?.id ? 'page' : undefined}
                    className={cx('option', id === page?.id && 'is-current')}
                  >
                    {t(words)}
                  </Link>
                </li>
              ))}
            </ul>
          </nav>
          <div className="settings-page" key={page?.id}>
            <h1>{t(page ? page.title : 'There is no such page')}</h1>
            {page && (
              <>
                <p className="text-ink-2">{t(page.holds)}</p>
                <Suspense fallback={<Late>{t('Loading')}</Late>}>
                  <PageTitle value={t(page.title)}>
                    <page.Content />
                  </PageTitle>
                </Suspense>
              </>
            )}
          </div>
        </div>
      </main>
    </div>
  );
}

/** On a phone the list is a strip that is wider than the screen. */
function showInStrip(link: HTMLElement | null): void {
  link?.scrollIntoView({ block: 'nearest', inline: 'center' });
}
