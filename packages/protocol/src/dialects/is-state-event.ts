import { isObservation, type Event } from '../event.ts';

/** Whether the event reports the agent's state to clients. */
export function isStateEvent(event: Event): boolean {
  return isObservation(event) && event.observation === 'agent_state_changed';
}
