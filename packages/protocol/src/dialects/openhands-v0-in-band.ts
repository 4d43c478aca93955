import type { AgentState } from '../agent-state.ts';
import type { Dialect, Frame } from './dialect.ts';
import { openhandsV0 } from './openhands-v0.ts';

/** The states a frontend of 0.15 gets for one of today: it becomes active at `init`, and breaks on a state it does not know. */
const OLD_STATES: Partial<Record<AgentState, readonly AgentState[]>> = {
  awaiting_user_input: ['init', 'awaiting_user_input'],
  rate_limited: ['running'],
};

/** Socket.IO clients of OpenHands 0.15 … 0.17, which send `initialize` in band: `openhands-v0` with the states of their time. */
export const openhandsV0InBand: Dialect = {
  ...openhandsV0,
  encode: (event, phase) => openhandsV0.encode(event, phase).flatMap(withOldStates),
};

function withOldStates(frame: Frame): readonly Frame[] {
  if (frame.observation !== 'agent_state_changed') return [frame];
  const extras = frame.extras as Frame;
  const states = OLD_STATES[extras.agent_state as AgentState];
  return states?.map((agent_state) => ({ ...frame, extras: { ...extras, agent_state } })) ?? [frame];
}
