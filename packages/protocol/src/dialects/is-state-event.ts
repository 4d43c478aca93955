import { isObservation, type Event } from '../event.ts';

/** Whether the event tells a client the agent's state. */
export function isStateEvent(event: Event): boolean {
  return isObservation(event) && event.observation === 'agent_state_changed';
}
