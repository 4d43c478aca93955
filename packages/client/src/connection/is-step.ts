import type { Event } from '@tendon/protocol';

/** What the agent speaks, and where it asks or ends, is waited for; state and the person's own messages are not its own. */
const WAITED_FOR: ReadonlySet<string> = new Set(['message', 'finish', 'reject']);

/** Whether an event is one of those that come by the dozen while an agent works. */
export function isStep(event: Event): boolean {
  return event.source === 'agent' && !('action' in event && WAITED_FOR.has(event.action)) && !('unknown' in event);
}
