import { useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { useConversationActs } from '../../conversation/open-conversation.ts';
import { Button } from '../../ui/button.tsx';
import { newShellSession, shellSession } from './shell-session.ts';
import { t } from '../../lib/language/text.ts';

/** The person's own shell in the sandbox. It stays while another tab is looked at, and ends with the page. */
export function OwnShell() {
  const { id } = useConversationActs();
  const [session, setSession] = useState(() => shellSession(id));
  const place = useRef<HTMLDivElement>(null);
  const ended = useSyncExternalStore(session.subscribe, session.ended);
  useEffect(() => session.attach(place.current!), [session]);
  return (
    <>
      <div ref={place} className="own-shell" />
      {ended !== undefined && (
        <p className="own-shell-end" role="alert">
          {t('The shell ended ({{reason}}).', { reason: ended })}{' '}
          <Button small look="line" onClick={() => setSession(newShellSession(id))}>
            {t('Start a new one')}
          </Button>
        </p>
      )}
    </>
  );
}
