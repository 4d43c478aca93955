import { useQuery } from '@tanstack/react-query';
import { PanelRight } from 'lucide-react';
import { useCallback, useEffect, useState } from 'react';
import { ConversationProvider } from '../../conversation/conversation-provider.tsx';
import type { Shown, TabName } from '../../conversation/open-conversation.ts';
import { Stream } from '../../stream/stream.tsx';
import { Icon, Mark } from '../../ui/icon.tsx';
import { IconButton } from '../../ui/button.tsx';
import { Late } from '../../ui/placeholder.tsx';
import { ThemeButton } from '../../ui/theme.tsx';
import { useConnection } from '../../conversation/use-connection.ts';
import { tendon } from '../../lib/server.ts';
import { Workbench } from '../../workbench/workbench.tsx';
import { useWorkbench } from './use-workbench.ts';
import { t } from '../../lib/language/text.ts';

/**
 * A conversation as a link shows it: everything that happens, live, with the agent's edits, and nothing that acts. The link's key stands
 * behind `#`.
 */
export function SharedPage({ id }: { readonly id: string }) {
  const [share] = useState(() => location.hash.slice(1));
  const open = useConnection(id, share);
  if (share === '' || open?.snapshot.connection.state === 'refused') {
    return (
      <main className="notice">
        <h1>{t('This link no longer works')}</h1>
        <p>{t('It was revoked, it has expired, or a part of it is missing. Ask the person who sent it for a new one.')}</p>
      </main>
    );
  }
  if (!open) {
    return (
      <main className="notice">
        <Late>{t('Opening the conversation')}</Late>
      </main>
    );
  }
  return <Watching id={id} share={share} {...open} />;
}

type WatchingProps = { readonly id: string; readonly share: string } & NonNullable<ReturnType<typeof useConnection>>;

function Watching({ id, share, connection, snapshot }: WatchingProps) {
  const info = useQuery({ queryKey: ['shared', id, share], queryFn: ({ signal }) => tendon.conversations.get(id, signal, share) });
  const title = snapshot.title ?? info.data?.title ?? t('Shared conversation');
  useEffect(() => {
    document.title = title;
  }, [title]);
  const workbench = useWorkbench();
  const [shown, setShown] = useState<Shown>({ tab: 'changes' });
  const [pane, setPane] = useState<'conversation' | 'panel'>('conversation');
  const { set: setWorkbench } = workbench;
  const show = useCallback(
    (target: Shown) => {
      setShown(target);
      setPane('panel');
      setWorkbench(true);
    },
    [setWorkbench],
  );
  const toConversation = () => setPane('conversation');
  const choose = useCallback((tab: TabName | 'conversation') => (tab === 'conversation' ? setPane('conversation') : show({ tab })), [show]);
  return (
    <ConversationProvider open={{ id, connection, snapshot, show, toConversation, isWatched: true }}>
      <div className="screen">
        <header className="top-bar">
          <Mark />
          <h1 className="truncate font-semibold">{title}</h1>
          <span className="flex-1" />
          <span className="text-ink-2 whitespace-nowrap">{t('View only')}</span>
          <IconButton
            className="only-wide"
            label={workbench.isShown ? t('Hide the workbench') : t('Show the workbench')}
            onClick={workbench.toggle}
          >
            <Icon of={PanelRight} />
          </IconButton>
          <ThemeButton />
        </header>
        <main className="work" data-workbench={workbench.isShown ? 'shown' : 'hidden'} data-pane={pane}>
          <section className="conversation" aria-label={t('Conversation')}>
            <Stream title={title} />
          </section>
          {(workbench.isShown || workbench.isPhone) && <Workbench shown={shown} isPhone={workbench.isPhone} pane={pane} onTab={choose} />}
        </main>
      </div>
    </ConversationProvider>
  );
}
