import type { ConversationSnapshot } from '@tendon/client';
import { useEffect, useState } from 'react';
import { useConversationActs, useFact } from '../conversation/open-conversation.ts';
import { useNow } from '../lib/use-now.ts';
import { SignIn } from '../ui/sign-in.tsx';
import { Button } from '../ui/button.tsx';
import { t } from '../lib/language/text.ts';

const SILENT_MS = 2_000;
const BACK_MS = 3_000;

/** How the connection is, beside the sentence of the state; nothing while all is well: under two seconds nobody needs to know. */
export function ConnectionWords({ snapshot }: { readonly snapshot: ConversationSnapshot }) {
  const { connection } = snapshot;
  const now = useNow(connection.state === 'reconnecting');
  const caughtUp = connection.state === 'connected' ? connection.caughtUp : undefined;
  const isBack = useShown(caughtUp !== undefined, BACK_MS);
  if (connection.state === 'offline') return <span className="connection">{t('Offline')}</span>;
  if (connection.state === 'reconnecting' && now - connection.since >= SILENT_MS)
    return (
      <span className="connection">
        {t('Reconnecting…')} <span className="assurance">{t('Your work is safe.')}</span>
      </span>
    );
  if (isBack && caughtUp)
    return (
      <span className="connection" data-tone="ok">
        {t('Caught up, {{count}} new events', { count: caughtUp })}
      </span>
    );
  return null;
}

/** The server let this page in no more: what a person can do about it, above the field. */
export function Refused() {
  const { connection } = useConversationActs();
  const now = useFact((snapshot) => snapshot.connection);
  if (now.state !== 'refused') return null;
  const { cause, message } = now;
  return (
    <section aria-label={t('Connection')} className="refused" role="alert">
      <span className="tone-bad">
        {cause === 'key' ? t('This server no longer accepts the key.') : t('The server refused the connection: {{message}}.', { message })}
      </span>
      {cause === 'key' ? (
        <SignIn onKey={connection.retry} />
      ) : (
        <Button look="line" onClick={connection.retry}>
          {t('Try again')}
        </Button>
      )}
    </section>
  );
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
