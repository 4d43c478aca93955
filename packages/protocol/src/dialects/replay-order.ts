import { isObservation, type Event } from '../event.ts';

/** Whether the event tells a client the agent's state. */
export function isStateEvent(event: Event): boolean {
  return isObservation(event) && event.observation === 'agent_state_changed';
}

/**
 * The order in which 0.62 replays: everything but states, then the last state alone.
 * A client that is shown old states one by one would flicker through them and end where it began.
 */
export function orderReplay(events: readonly Event[]): Event[] {
  const last = events.findLast(isStateEvent);
  return [...events.filter((event) => !isStateEvent(event)), ...(last ? [last] : [])];
}
