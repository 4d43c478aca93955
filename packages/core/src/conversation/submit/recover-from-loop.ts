import { catalogError, CondensationAction, LoopRecoveryAction, type ActionDraft, type CatalogError } from '@tendon/protocol';
import type { EngineState } from '../../engine/engine-state.ts';
import { stateChanged } from '../../engine/notices.ts';
import type { SourcedDraft } from '../../log/event-log.ts';
import { requestState } from './request-state.ts';

const TAKEN_BACK =
  'You went in circles here, and the user had you begin again from this point. What you did in between is left out. Take another way.';

/** A person has the agent that was halted in a loop go on from before it (1) or from their last message (2), or stop (3). What lies between is forgotten like by a condensation, so it can be undone like one. */
export function recoverFromLoop(
  state: EngineState,
  { args: { option } }: ActionDraft<'loop_recovery'>,
): readonly SourcedDraft[] | CatalogError {
  const { conversation, progress } = state;
  if (progress.circleFrom === undefined) return catalogError('ILLEGAL_STATE', 'the agent was not halted in a loop');
  const chosen: SourcedDraft = { source: 'user', ...LoopRecoveryAction.create({ option }) };
  if (option === 3) {
    const stopped = requestState(state, { to: 'stopped' });
    return 'code' in stopped ? stopped : [chosen, ...stopped];
  }
  if (option !== 1 && option !== 2) return catalogError('INVALID_ARGUMENTS', 'option: 1, 2 or 3');
  const start = option === 1 ? progress.circleFrom : conversation.lastUserMessageId;
  const forgotten = { forgotten_events_start_id: start, forgotten_events_end_id: conversation.nextId - 1, summary: TAKEN_BACK };
  return [chosen, { source: 'environment', ...CondensationAction.create(forgotten) }, stateChanged('running')];
}
