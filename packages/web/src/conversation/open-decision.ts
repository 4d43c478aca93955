import type { Action } from '@tendon/protocol';
import type { ConversationState } from '@tendon/protocol/reduce';

/** The action that waits for a person, if one does. */
export function openDecision(state: ConversationState): Action | undefined {
  if (state.agentState !== 'awaiting_user_confirmation') return undefined;
  return (
    state.pending.findLast((action) => 'confirmation_state' in action.args && action.args.confirmation_state === 'awaiting_confirmation') ??
    state.pending.at(-1)
  );
}
