import type { ConversationSnapshot } from '@tendon/client';
import { useMemo } from 'react';
import { useModelInUse } from '../../lib/model-in-use.ts';
import { startingWords } from '../../copy/error-words.ts';
import { stateSentence, type StateSentence } from '../../copy/state-sentence.ts';
import { changedFiles } from '../../conversation/changed-files.ts';
import { useNow } from '../../lib/use-now.ts';

/** The sentence of the state, and since when it holds (milliseconds since the epoch). */
export function useStateSentence(
  snapshot: ConversationSnapshot,
): StateSentence & { readonly since: number | undefined; readonly until: number | undefined } {
  const { state, events, status } = snapshot;
  const model = useModelInUse();
  const now = useNow(state.agentState === 'rate_limited');
  const filesChanged = useMemo(
    () => (state.agentState === 'finished' ? changedFiles(events, state.lastUserMessageId).length : undefined),
    [events, state.agentState, state.lastUserMessageId],
  );
  // One that waited for a decision is repeated under a new id once that was made.
  const doing = state.pending.findLast(
    (action) => !('confirmation_state' in action.args) || action.args.confirmation_state !== 'awaiting_confirmation',
  );
  const lastChange = events.findLast((event) => 'observation' in event && event.observation === 'agent_state_changed');
  const task = events.find((event) => event.id === state.lastUserMessageId);
  const isOver = state.agentState === 'finished';
  const began = isOver ? task : state.agentState === 'running' && doing ? doing : lastChange;
  return {
    ...stateSentence({
      state: state.agentState,
      reason: state.reason,
      resumesAt: state.resumesAt,
      doing,
      starting: startingWords(status?.id),
      filesChanged,
      model: model?.label,
      now,
    }),
    since: began && timeOf(began.timestamp),
    until: isOver ? lastChange && timeOf(lastChange.timestamp) : undefined,
  };
}

function timeOf(iso: string): number | undefined {
  const time = Date.parse(iso);
  return Number.isNaN(time) ? undefined : time;
}
