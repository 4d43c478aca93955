import { useQuery } from '@tanstack/react-query';
import { ApiError } from '@tendon/client';
import { Search } from 'lucide-react';
import { Suspense, useContext, useEffect, useState } from 'react';
import { isWaiting } from '../../copy/state-sentence.ts';
import { CommandContext } from '../../lib/commands.ts';
import { keyText } from '../../lib/keys.ts';
import { paths } from '../../lib/paths.ts';
import { conversationsQuery, tendon, useModelInUse } from '../../lib/server.ts';
import { IconButton } from '../../ui/button.tsx';
import { type Glyph, Icon, Mark } from '../../ui/icon.tsx';
import { ThemeButton } from '../../ui/theme.tsx';
import { SettingsLink } from '../settings-link.tsx';
import { StatusBar } from '../status-bar.tsx';
import { ConversationList } from './conversation-list.tsx';
import { ModelGuide } from './model-guide.tsx';
import { TaskComposer } from './task-composer.tsx';
import { Link } from '../../ui/link.tsx';
import { t } from '../../lib/language/text.ts';
import { lazyPart } from '../../lib/lazy-part.ts';

/** Its questions are of the protocol, which a first look at the page can do without. */
const NeedsYou = lazyPart(async () => ({ default: (await import('../inbox/needs-you.tsx')).NeedsYou }));

export function HomePage() {
  const model = useModelInUse();
  const [asking, setAsking] = useState<ReadonlySet<string>>(new Set());
  const waiting = (useQuery(conversationsQuery).data ?? []).filter(isWaiting).length;
  useEffect(() => {
    document.title = waiting === 0 ? 'Tendon' : t('{{count}} conversations waiting for you – Tendon', { count: waiting });
  }, [waiting]);
  return (
    <div className="screen">
      <HomeBar />
      <main className="home scroll" aria-label={t('Home')}>
        <div className="home-column">
          <h1>{t('What do you want done?')}</h1>
          <TaskComposer />
          {model && <ModelGuide isDemo={model.isDemo} />}
          <Suspense>
            <NeedsYou onAsking={setAsking} />
          </Suspense>
          <ConversationList asking={asking} />
        </div>
      </main>
      <StatusBar {...useServerState()}>{model && <span>{model.isDemo ? t('Demo model, free') : model.label}</span>}</StatusBar>
    </div>
  );
}

function HomeBar() {
  const { openPalette } = useContext(CommandContext);
  return (
    <header className="top-bar">
      <Link className="brand" to={paths.home} aria-label={t('Tendon, home')}>
        <Mark />
        Tendon
      </Link>
      <span className="flex-1" />
      <button type="button" className="search only-wide" onClick={openPalette}>
        <Icon of={Search} small />
        <span className="flex-1">{t('Search or run a command')}</span>
        <kbd aria-hidden="true">{keyText('mod+k')}</kbd>
      </button>
      <span className="flex-1" />
      <IconButton label={t('Search or run a command')} className="only-narrow" onClick={openPalette}>
        <Icon of={Search} />
      </IconButton>
      <SettingsLink />
      <ThemeButton />
    </header>
  );
}

/** How the last request went: on pages without a connection of their own. */
function useServerState(): { readonly glyph: Glyph; readonly connection: string } {
  const { error, fetchStatus } = useQuery(conversationsQuery);
  if (fetchStatus === 'paused') return { glyph: 'held', connection: t('Offline') };
  if (!error) return { glyph: 'connected', connection: t('Connected to {{host}}', { host: tendon.host }) };
  if (error instanceof ApiError && error.status === 401) return { glyph: 'failed', connection: t('Signed out') };
  if (error instanceof ApiError && error.status > 0) return { glyph: 'limited', connection: t('{{host}} refused', { host: tendon.host }) };
  return { glyph: 'limited', connection: t('Could not reach {{host}}', { host: tendon.host }) };
}
