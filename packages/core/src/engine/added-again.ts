import { isRunnable, withAnswerReference, type Action } from '@tendon/protocol';
import type { SourcedDraft } from '../log/event-log.ts';

/** An action that waits for a person's word, added with a new id: as decided, or as the one that is asked about now. */
export function addedAgain(
  action: Action,
  confirmation_state: 'awaiting_confirmation' | 'confirmed' | 'rejected',
  executor?: string,
): SourcedDraft {
  const { id: _id, timestamp: _timestamp, llm_metrics: _metrics, tool_call_metadata: call, ...draft } = action;
  const args = { ...action.args, thought: '', confirmation_state };
  const added = { ...draft, args, ...(call && { tool_call_metadata: withAnswerReference(call) }) };
  return { ...added, ...(executor && isRunnable(action.action) && { executor }) } as SourcedDraft;
}
