import { Component, type ReactNode, Suspense, useContext } from 'react';
import { type Address, AddressProvider, navigate, useAddress } from '../lib/address.tsx';
import { useLanguage } from '../lib/language/language.ts';
import { t } from '../lib/language/text.ts';
import { useNotifications } from '../lib/notifications.ts';
import { type PageAddress, paths, readPath } from '../lib/paths.ts';
import { Button } from '../ui/button.tsx';
import { CommandContext, useCommands } from '../lib/commands.ts';
import { markKeyFocus } from '../ui/focus-by-key.ts';
import { inheritFocus } from '../ui/focus-heir.ts';
import { signOut } from '../lib/sign-out.ts';
import { theme } from '../ui/theme.tsx';
import { KeyboardProvider, KeyMap, Palette } from './keyboard.tsx';
import { lazyPart } from '../lib/lazy-part.ts';

const CODE = {
  home: () => import('../pages/home/home-page.tsx'),
  conversation: () => import('../pages/conversation/conversation-page.tsx'),
  settings: () => import('../pages/settings/settings-page.tsx'),
  shared: () => import('../pages/conversation/shared-page.tsx'),
  none: () => import('../pages/not-found.tsx'),
};
const HomePage = lazyPart(async () => ({ default: (await CODE.home()).HomePage }));
const ConversationPage = lazyPart(async () => ({ default: (await CODE.conversation()).ConversationPage }));
const SettingsPage = lazyPart(async () => ({ default: (await CODE.settings()).SettingsPage }));
const NotFound = lazyPart(async () => ({ default: (await CODE.none()).NotFound }));
const SharedPage = lazyPart(async () => ({ default: (await CODE.shared()).SharedPage }));

const prepare = ({ pathname }: Address): Promise<unknown> => CODE[readPath(pathname).page]();

/** The map of the app. Each page is a chunk of its own; the one that is there stays until the next one is loaded. */
export function Pages() {
  return (
    <AddressProvider prepare={prepare}>
      <App />
    </AddressProvider>
  );
}

function PageAt({ at }: { readonly at: PageAddress }) {
  switch (at.page) {
    case 'home':
      return <HomePage />;
    case 'conversation':
      return <ConversationPage id={at.id} />;
    case 'settings':
      return <SettingsPage name={at.name} />;
    case 'shared':
      return <SharedPage id={at.id} />;
    case 'none':
      return <NotFound />;
  }
}

interface PageBorderProps {
  /** The address: another page begins without the error of this one. */
  readonly at: string;
  readonly children: ReactNode;
}

/** Where a page that threw ends. The conversation is on the server and goes on. */
class PageBorder extends Component<PageBorderProps, { readonly error?: unknown; readonly at: string }> {
  override state = { at: this.props.at };

  static getDerivedStateFromError(error: unknown) {
    return { error };
  }

  static getDerivedStateFromProps({ at }: PageBorderProps, before: { readonly at: string }) {
    return at === before.at ? null : { at, error: undefined };
  }

  override render() {
    return 'error' in this.state && this.state.error !== undefined ? <PageError error={this.state.error} /> : this.props.children;
  }
}

function PageError({ error }: { readonly error: unknown }) {
  const details = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return (
    <main className="notice" role="alert">
      <h1>
        <b>{t('This page stopped working. The conversation goes on.')}</b>
      </h1>
      <p className="mono">{error instanceof Error ? error.message : details}</p>
      <div className="mt-2 flex gap-2">
        <Button look="main" onClick={() => location.reload()}>
          {t('Reload the page')}
        </Button>
        <Button look="line" onClick={() => void navigator.clipboard.writeText(details)}>
          {t('Copy details')}
        </Button>
      </div>
    </main>
  );
}

function followFocus(root: HTMLElement | null): () => void {
  const ends = [inheritFocus(root), markKeyFocus(root)];
  return () => ends.forEach((end) => end?.());
}

/** The frame of every page: one container that everything adapts to, the keyboard, the palette. */
function App() {
  const { pathname } = useAddress();
  const language = useLanguage();
  const at = readPath(pathname);
  const isWatching = at.page === 'shared';
  return (
    // Texts are asked for when something is drawn: in another language all of it is drawn anew.
    <KeyboardProvider key={language}>
      <div className="app" ref={followFocus}>
        {!isWatching && at.page !== 'settings' && (
          <a className="skip-link" href="#composer">
            {t('Write a message')}
          </a>
        )}
        <AppCommands />
        {!isWatching && <Notifier />}
        <PageBorder at={pathname}>
          <Suspense>
            <PageAt at={at} />
          </Suspense>
        </PageBorder>
        <Palette />
        <KeyMap />
      </div>
    </KeyboardProvider>
  );
}

const ShowWaiting = lazyPart(async () => ({ default: (await import('./show-waiting.tsx')).ShowWaiting }));

/** Nothing is loaded for it, and nothing asked, until a person turns it on. */
function Notifier() {
  return useNotifications() === 'on' ? (
    <Suspense>
      <ShowWaiting />
    </Suspense>
  ) : null;
}

/** What can be done on every page. */
function AppCommands() {
  const registry = useContext(CommandContext);
  useCommands('app', [
    { id: 'palette', title: t('Search or run a command'), group: 'App', keys: ['mod+k'], listed: false, run: registry.openPalette },
    { id: 'new', title: t('New task'), group: 'App', keys: ['g n'], when: 'stream', run: () => navigate(paths.home) },
    { id: 'settings', title: t('Settings'), group: 'App', keys: ['mod+,'], run: () => navigate(paths.settings) },
    { id: 'language', title: t('Language'), group: 'App', run: () => navigate(paths.settingsPage('appearance')) },
    { id: 'theme-light', title: t('Theme: light'), group: 'App', run: () => theme.choose('light') },
    { id: 'theme-dark', title: t('Theme: dark'), group: 'App', run: () => theme.choose('dark') },
    { id: 'theme-system', title: t('Theme: follow the system'), group: 'App', run: () => theme.choose('system') },
    { id: 'sign-out', title: t('Sign out'), group: 'App', run: () => void signOut() },
    { id: 'next-region', title: t('Next region'), group: 'App', keys: ['f6'], listed: false, run: () => moveRegion(1) },
    { id: 'last-region', title: t('Previous region'), group: 'App', keys: ['shift+f6'], listed: false, run: () => moveRegion(-1) },
  ]);
  return null;
}

const REGIONS = 'header a, .stream, .decision, #composer, [role=tab][aria-selected=true], [role=tabpanel]';

function moveRegion(step: 1 | -1): void {
  const regions = [...document.querySelectorAll<HTMLElement>(REGIONS)].filter((element) => element.offsetParent !== null);
  const now = regions.findLastIndex((region) => region === document.activeElement || region.contains(document.activeElement));
  const next = now < 0 ? (step > 0 ? 0 : regions.length - 1) : (now + step + regions.length) % regions.length;
  regions[next]?.focus();
}
