import { useEffect, useState } from 'react';
import { ConversationProvider } from '../../conversation/conversation-provider.tsx';
import { Stream } from '../../stream/stream.tsx';
import { Mark } from '../../ui/icon.tsx';
import { Late } from '../../ui/placeholder.tsx';
import { ThemeButton } from '../../ui/theme.tsx';
import { useConnection } from '../../conversation/use-connection.ts';
import { t } from '../../lib/language/text.ts';

/** A conversation as a link shows it: everything that happens, live, and nothing to press. The link's key stands behind `#`. */
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
  return <Watching id={id} {...open} />;
}

function Watching({ id, connection, snapshot }: { readonly id: string } & NonNullable<ReturnType<typeof useConnection>>) {
  const title = snapshot.title ?? t('Shared conversation');
  useEffect(() => {
    document.title = title;
  }, [title]);
  return (
    <ConversationProvider open={{ id, connection, snapshot, show: () => undefined, isWatched: true }}>
      <div className="screen">
        <header className="top-bar">
          <Mark />
          <h1 className="truncate font-semibold">{title}</h1>
          <span className="flex-1" />
          <span className="text-ink-2">{t('View only')}</span>
          <ThemeButton />
        </header>
        <div className="work" data-workbench="hidden" data-pane="conversation">
          <main className="conversation" aria-label={t('Conversation')}>
            <Stream title={title} />
          </main>
        </div>
      </div>
    </ConversationProvider>
  );
}
