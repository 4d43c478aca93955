import { useQuery } from '@tanstack/react-query';
import { RestoreHere } from '../../conversation/restore-here.tsx';
import { useConversationActs } from '../../conversation/open-conversation.ts';
import { tendon } from '../../lib/server.ts';
import { Late } from '../../ui/placeholder.tsx';
import type { Moment } from './timeline-panel.tsx';
import { t } from '../../lib/language/text.ts';

interface BackToProps {
  readonly moment: Moment;
  /** There is a message before it, so that a second conversation would not be empty. */
  readonly hasEarlier: boolean;
  readonly onDone: () => void;
}

/** What an agent does before it acts: its first act is the moment at which the files were still as the person left them. */
const NO_ACT = 'message,recall,think,system,null,change_agent_state';

/** Back to before a message was sent, with the files of then, or on from before it in a second conversation. */
export function BackTo({ moment, hasEarlier, onDone }: BackToProps) {
  const { id } = useConversationActs();
  const first = useQuery({
    queryKey: ['first-act', id, moment.id],
    queryFn: async ({ signal }) => {
      const query = { start_id: moment.id + 1, source: 'agent', exclude_types: NO_ACT, limit: 20 };
      const { events } = await tendon.conversations.events(id, query, signal);
      return Number(events.find(wasDone)?.id ?? Infinity);
    },
    retry: false,
    staleTime: 0,
  });
  if (first.isPending) return <Late>{t('Looking for the moment')}</Late>;
  if (first.error) {
    return (
      <p role="alert" className="tone-bad">
        {first.error.message}
      </p>
    );
  }
  return (
    <RestoreHere
      actionId={first.data === Infinity ? undefined : first.data}
      before={moment.id}
      main="both"
      words={t('Back to before this message was sent.')}
      fork={
        hasEarlier
          ? {
              lastId: moment.id - 1,
              words: t('Or leave this as it is, and go on from before this message in a second conversation with a folder of its own.'),
            }
          : undefined
      }
      onDone={onDone}
    />
  );
}

/** What waits for a decision has done nothing: once it is approved it comes again, under another id. */
function wasDone(event: Readonly<Record<string, unknown>>): boolean {
  const { confirmation_state: state } = (event.args ?? {}) as { readonly confirmation_state?: string };
  return 'action' in event && state !== 'awaiting_confirmation' && state !== 'rejected';
}
