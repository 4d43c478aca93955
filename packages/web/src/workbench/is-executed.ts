import type { Action } from '@tendon/protocol';

/** Whether an action is executed: one that waits for a decision comes again when it is approved, and one that is rejected never is. */
export function isExecuted({ args }: Action): boolean {
  const state = 'confirmation_state' in args ? args.confirmation_state : undefined;
  return state !== 'awaiting_confirmation' && state !== 'rejected';
}
