import type { ConversationSnapshot } from '@tendon/client';
import { useEffect, useState } from 'react';
import { useNow } from '../../lib/use-now.ts';
import { Button } from '../../ui/button.tsx';
import { clock, elapsed } from '../../copy/figures.ts';
import { SignIn } from '../sign-in.tsx';
import { t } from '../../lib/language/text.ts';

const SILENT_MS = 2_000;
const BACK_MS = 3_000;

/** Nothing while all is well: under two seconds nobody needs to know. */
export function ConnectionBar({ snapshot, onRetry }: { readonly snapshot: ConversationSnapshot; readonly onRetry: () => void }) {
  const { connection, events } = snapshot;
  const isAway = connection.state === 'reconnecting' || connection.state === 'offline';
  const now = useNow(isAway);
  const caughtUp = connection.state === 'connected' ? connection.caughtUp : undefined;
  const isBack = useShown(caughtUp !== undefined, BACK_MS);
  if (connection.state === 'refused') {
    return (
      <section aria-label={t('Connection')} className="connection-bar" data-tone="bad">
        {connection.cause === 'key'
          ? t('This server no longer accepts the key.')
          : t('The server refused the connection: {{message}}.', { message: connection.message })}
        {connection.cause === 'key' ? (
          <SignIn onKey={onRetry} />
        ) : (
          <Button small onClick={onRetry}>
            {t('Try again')}
          </Button>
        )}
      </section>
    );
  }
  if (connection.state === 'offline') {
    const last = events.at(-1);
    return (
      <section aria-label={t('Connection')} className="connection-bar">
        {last
          ? t('Offline. You see everything up to {{time}}. Messages are sent when you are back.', { time: clock(last.timestamp) })
          : t('Offline. Messages are sent when you are back.')}{' '}
        <Button small onClick={onRetry}>
          {t('Try now')}
        </Button>
      </section>
    );
  }
  if (connection.state === 'reconnecting' && now - connection.since >= SILENT_MS) {
    return (
      <section aria-label={t('Connection')} className="connection-bar">
        {t('Reconnecting… your work is safe ({{time}})', { time: elapsed(now - connection.since) })}
      </section>
    );
  }
  if (isBack && caughtUp) {
    return (
      <section aria-label={t('Connection')} className="connection-bar" data-tone="ok">
        {t('Caught up, {{count}} new events', { count: caughtUp })}
      </section>
    );
  }
  return null;
}

/** True for `ms` after `isOn` became true. */
function useShown(isOn: boolean, ms: number): boolean {
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    setShown(isOn);
    if (!isOn) return;
    const timer = setTimeout(() => setShown(false), ms);
    return () => clearTimeout(timer);
  }, [isOn, ms]);
  return isShown;
}
