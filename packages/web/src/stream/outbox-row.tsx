import type { OutboxEntry } from '@tendon/client';
import { UserRound } from 'lucide-react';
import { useConversation } from '../conversation/open-conversation.ts';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';

const STATES = { waiting: 'Not sent yet', sent: 'Sending', unconfirmed: 'Not confirmed' } as const satisfies Record<
  OutboxEntry['state'],
  string
>;

/** Said, and not an event yet. */
export function OutboxRow({ entry }: { readonly entry: OutboxEntry }) {
  const { connection } = useConversation();
  return (
    <article className="turn unsent" tabIndex={-1} aria-label={`Your message, not sent yet: ${String(entry.payload.args.content)}`}>
      <span className="gutter self-center">
        <Icon of={UserRound} />
      </span>
      <p className="turn-text truncate">{String(entry.payload.args.content)}</p>
      <span className="flex items-center gap-2 text-small text-ink-3">
        {STATES[entry.state]}
        {entry.state === 'unconfirmed' && connection.getSnapshot().connection.state === 'connected' && (
          <Button small onClick={() => connection.resend(entry.clientId)}>
            Send again
          </Button>
        )}
        {entry.state !== 'sent' && (
          <Button small onClick={() => connection.cancel(entry.clientId)}>
            Cancel
          </Button>
        )}
      </span>
    </article>
  );
}
