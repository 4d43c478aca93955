import { FoldVertical } from 'lucide-react';
import { Prose } from '../../code/prose.tsx';
import { count } from '../../copy/counts.ts';
import { clock } from '../../copy/times.ts';
import type { ActionCard } from './card.ts';

export const condensationCard: ActionCard<'condensation'> = ({ action }) => {
  const { forgotten_event_ids: ids, forgotten_events_start_id: from, forgotten_events_end_id: to, summary } = action.args;
  const forgotten = ids?.length ?? (from !== null && to !== null ? to - from + 1 : 0);
  const detail = `${count(forgotten, 'event')} became a summary, nothing is lost`;
  return {
    icon: FoldVertical,
    verb: 'Shortened the history',
    detail,
    facts: [{ text: clock(action.timestamp) }],
    name: `Shortened the history, ${detail}`,
    open: 'never',
    ...(summary && { copy: summary, body: () => <Prose text={summary} quiet /> }),
  };
};
