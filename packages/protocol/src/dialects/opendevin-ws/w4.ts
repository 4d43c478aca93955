import type { AgentState } from '../../agent-state.ts';
import { isAction, type Action, type Observation } from '../../event.ts';
import type { Frame, Phase } from '../dialect.ts';
import { unknownFrame } from '../wire-frame.ts';
import { failed } from './frames.ts';
import type { Generation } from './generation.ts';
import { W4_ACTIONS } from './w4-actions.ts';
import { encodeRunWithCommand, encodeState, W4_OBSERVATIONS } from './w4-observations.ts';

/** 0.8 to 0.12: events with ids, states as observations, confirmation. */
export const W4: Generation = {
  greeting: [],
  hides,
  actions: W4_ACTIONS,
  observations: W4_OBSERVATIONS,
  unknown: unknownFrame,
  announce: (state, timestamp) => [stateFrame(state === 'rate_limited' ? 'running' : state, timestamp)],
  // Progress is not sent: frontends before 0.9.6 put its line into the chat, and 0.9.6 to 0.9.8 show it in every state until a reload.
  status: (frame) => (frame.type === 'error' ? [failed(frame.message)] : []),
  error: (error) => failed(error.message),
};

/** States of May 2024, for those that came in July. */
const EARLY_STATES: Partial<Record<AgentState, AgentState>> = {
  rejected: 'stopped',
  rate_limited: 'running',
  awaiting_user_confirmation: 'awaiting_user_input',
  user_confirmed: 'running',
  user_rejected: 'awaiting_user_input',
};

/** 13 May 2024 to 0.7: as W4 with the states of its time. */
export const W3: Generation = {
  ...W4,
  observations: {
    ...W4_OBSERVATIONS,
    agent_state_changed: (event, phase) => encodeState(event, early(event.extras.agent_state), phase),
  },
  announce: (state, timestamp) => [stateFrame(early(state), timestamp)],
};

/** 0.13 and 0.14: progress is a status update, and what the agent ran is in its output. */
export const W5: Generation = {
  ...W4,
  observations: { ...W4_OBSERVATIONS, run: encodeRunWithCommand },
  status({ type, id, message, conversation_title }) {
    return conversation_title === undefined ? [{ status_update: true, type, id: id ?? '', message }] : [];
  },
};

/** States are never replayed, what a person did is not echoed to them live, and what is looked up for their message is never theirs. */
function hides(event: Action | Observation, phase: Phase): boolean {
  if (isAction(event)) return event.source === 'user' && (phase === 'live' || event.action === 'recall');
  return phase === 'replay' && event.observation === 'agent_state_changed';
}

function early(state: AgentState): AgentState {
  return EARLY_STATES[state] ?? state;
}

/** Without an id: clients ask for what came after the last one they saw, and this is no event. */
function stateFrame(agent_state: AgentState, timestamp: string): Frame {
  return { timestamp, source: 'agent', message: '', observation: 'agent_state_changed', content: '', extras: { agent_state } };
}
