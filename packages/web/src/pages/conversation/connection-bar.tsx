import type { ConversationSnapshot } from '@tendon/client';
import { useEffect, useState } from 'react';
import { useNow } from '../../lib/use-now.ts';
import { Button } from '../../ui/button.tsx';
import { count, clock, elapsed } from '../../copy/figures.ts';
import { SignIn } from '../sign-in.tsx';

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
      <section aria-label="Connection" className="connection-bar" data-tone="bad">
        {connection.cause === 'key'
          ? 'This server no longer accepts the key.'
          : `The server refused the connection: ${connection.message}.`}
        {connection.cause === 'key' ? (
          <SignIn onKey={onRetry} />
        ) : (
          <Button small onClick={onRetry}>
            Try again
          </Button>
        )}
      </section>
    );
  }
  if (connection.state === 'offline') {
    const last = events.at(-1);
    return (
      <section aria-label="Connection" className="connection-bar">
        Offline.{last && ` You see everything up to ${clock(last.timestamp)}.`} Messages wait until you are back.
        <Button small onClick={onRetry}>
          Try now
        </Button>
      </section>
    );
  }
  if (connection.state === 'reconnecting' && now - connection.since >= SILENT_MS) {
    return (
      <section aria-label="Connection" className="connection-bar">
        Reconnecting, nothing is lost · {elapsed(now - connection.since)}
      </section>
    );
  }
  if (isBack && caughtUp) {
    return (
      <section aria-label="Connection" className="connection-bar" data-tone="ok">
        Caught up, {count(caughtUp, 'new event')}
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
