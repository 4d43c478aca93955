import type { Action } from '@tendon/protocol';

/** The answers that the agent's last message offers, when it waits for one of them. */
export function offeredChoices(action: Action | undefined): readonly string[] {
  return action?.action === 'message' && action.source === 'agent' ? (action.args.choices ?? []) : [];
}

/** What the agent says in this event to its user. */
export function wordsOf(action: Action): string | undefined {
  if (action.source !== 'agent') return undefined;
  if (action.action === 'finish') return action.args.final_thought || String(action.args.thought);
  if (action.action === 'reject') return String(action.args.outputs.reason ?? action.args.thought);
  return action.action === 'message' ? action.args.content : undefined;
}
