import { Suspense, useEffect } from 'react';
import { Link, useParams } from 'react-router';
import { paths } from '../../lib/paths.ts';
import { cx } from '../../ui/cx.ts';
import { Mark } from '../../ui/icon.tsx';
import { Late } from '../../ui/placeholder.tsx';
import { ThemeButton } from '../../ui/theme.tsx';
import { SETTINGS_PAGES } from './settings-pages.ts';

/** What is not chosen where a task begins, a page for each subject, and for whom it holds. */
export function SettingsPage() {
  const { page: name } = useParams();
  const page = name === undefined ? SETTINGS_PAGES[0] : SETTINGS_PAGES.find(({ id }) => id === name);
  const title = page?.title ?? 'Settings';
  useEffect(() => {
    document.title = `${title} · Settings · Tendon`;
  }, [title]);
  return (
    <div className="screen">
      <header className="top-bar">
        <Link className="brand" to={paths.home} aria-label="Tendon, home">
          <Mark />
          Tendon
        </Link>
        <span className="flex-1" />
        <ThemeButton />
      </header>
      <main className="home scroll" aria-label="Settings">
        <div className="settings-columns">
          <nav aria-label="Settings">
            <ul>
              {SETTINGS_PAGES.map(({ id, title: words }) => (
                <li key={id}>
                  <Link
                    to={paths.settingsPage(id)}
                    ref={id === page?.id ? showInStrip : undefined}
                    aria-current={id === page?.id ? 'page' : undefined}
                    className={cx('option', id === page?.id && 'is-current')}
                  >
                    {words}
                  </Link>
                </li>
              ))}
            </ul>
          </nav>
          <div className="settings-page" key={page?.id}>
            <h1>{page ? page.title : 'There is no such page'}</h1>
            {page && (
              <>
                <p className="text-ink-2">{page.holds}</p>
                <Suspense fallback={<Late>Loading</Late>}>
                  <page.Content />
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
