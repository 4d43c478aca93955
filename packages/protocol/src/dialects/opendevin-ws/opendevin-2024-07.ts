import type { AgentState } from '../../agent-state.ts';
import { isAction, type Action, type Observation } from '../../event.ts';
import type { Frame, Phase } from '../dialect.ts';
import { unknownFrame } from '../wire-frame.ts';
import { failed, endedBy, memoriesOf } from './frames.ts';
import type { Generation, ObservationEncoders } from './generation.ts';
import { ACTIONS_2024_07 } from './actions-2024-07.ts';
import { commandId } from '../additive-twins.ts';
import { withPictures, behindCommand, terminalLines } from '../cell-pictures.ts';
import { cutMiddle } from '../../cut-middle.ts';
import { shownAction, shownObservation, succeeded } from './frames-2024-07.ts';

/** 0.6 to 0.14: results of kinds that did not exist yet become a `success`, whose `message` is shown in the chat. */
const OBSERVATIONS_2024_07: ObservationEncoders = {
  null: hidden,
  run: encodeRun,
  run_ipython(event) {
    const { code, image_urls } = event.extras;
    return [shownObservation(event, 'run_ipython', { code }, { content: withPictures(event.content, image_urls) })];
  },
  read: (event) => [shownObservation(event, 'read', { path: event.extras.path })],
  write: (event) => [shownObservation(event, 'write', { path: event.extras.path })],
  edit: encodeEdit,
  download: (event) => [shownObservation(event, 'success', {})],
  browse: encodeBrowse,
  chat: succeeded,
  message: succeeded,
  agent_state_changed: (event, phase) => encodeState(event, event.extras.agent_state, phase),
  think: hidden,
  condense: succeeded,
  delegate: (event) => [shownObservation(event, 'delegate', { outputs: event.extras.outputs })],
  recall(event) {
    const memories = memoriesOf(event);
    if (memories.length === 0 && event.extras.query === undefined) return [];
    return [shownObservation(event, 'recall', { memories, role: 'assistant' }, { message: 'The agent recalled memories.' })];
  },
  task_tracking: succeeded,
  loop_detection: succeeded,
  mcp: succeeded,
  restore_checkpoint: succeeded,
  error: (event) => [shownObservation(event, 'error', {})],
  success: (event) => [shownObservation(event, 'success', {})],
  user_rejected: (event) => [shownObservation(event, 'user_rejected', {})],
};

/** `rate_limited` came in 2025. A failure that nothing else reported is sent with the state. */
function encodeState(event: Observation<'agent_state_changed'>, state: AgentState, phase: Phase): readonly Frame[] {
  const agent_state = state === 'rate_limited' ? 'running' : state;
  const frame = shownObservation(event, 'agent_state_changed', { agent_state }, { content: '' });
  return state === 'error' ? [frame, ...endedBy(event, phase)] : [frame];
}

function hidden(): readonly Frame[] {
  return [];
}

function encodeRun(event: Observation<'run'>): readonly Frame[] {
  return shownRun(event, terminalLines(cutMiddle(event.content, { mark: 'beside' })));
}

/** The terminal shows an agent's command only by this; a user's own command is there as typed. */
function encodeRunWithCommand(event: Observation<'run'>): readonly Frame[] {
  const output = terminalLines(cutMiddle(event.content, { mark: 'beside' }));
  return shownRun(event, event.source === 'user' ? output : behindCommand(event.extras.command, output));
}

function shownRun(event: Observation<'run'>, content: string): readonly Frame[] {
  const { command, metadata, hidden: isHidden } = event.extras;
  if (isHidden) return [];
  const extras = { command_id: commandId(event), command, exit_code: metadata.exit_code, metadata };
  return [shownObservation(event, 'run', extras, { content })];
}

function encodeEdit(event: Observation<'edit'>): readonly Frame[] {
  const { path, new_content } = event.extras;
  const write = { path, content: new_content, start: 0, end: -1, thought: '' };
  const written = new_content === null ? [] : [shownAction(event, 'write', write, { message: `Writing file: ${path}` })];
  return [...written, shownObservation(event, 'write', { path }, { message: `I wrote to the file ${path}.` })];
}

/** Trees of a page's elements stay here: nothing of that time reads them, and they are large. */
function encodeBrowse(event: Observation<'browse'>): readonly Frame[] {
  const { extras } = event;
  return [
    shownObservation(event, 'browse', {
      url: extras.url,
      /** Bare base64: frontends of every release before 0.20 put the `data:` prefix on when it is missing. */
      screenshot: extras.screenshot.replace(/^data:[^,]*,/, ''),
      error: extras.error,
      open_pages_urls: extras.open_pages_urls,
      active_page_index: extras.active_page_index,
      dom_object: {},
      axtree_object: {},
      extra_element_properties: {},
      last_browser_action: extras.last_browser_action,
      last_browser_action_error: extras.last_browser_action_error,
      focused_element_bid: extras.focused_element_bid,
      status_code: typeof extras.status_code === 'number' ? extras.status_code : extras.error ? 500 : 200,
    }),
  ];
}

/** 0.8 to 0.12: events with ids, states as observations, confirmation. */
export const OPENDEVIN_2024_07: Generation = {
  greeting: [],
  hides,
  actions: ACTIONS_2024_07,
  observations: OBSERVATIONS_2024_07,
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

/** 13 May 2024 to 0.7: as opendevin-2024-07 with the states of its time. */
export const OPENDEVIN_2024_06: Generation = {
  ...OPENDEVIN_2024_07,
  observations: {
    ...OBSERVATIONS_2024_07,
    agent_state_changed: (event, phase) => encodeState(event, early(event.extras.agent_state), phase),
  },
  announce: (state, timestamp) => [stateFrame(early(state), timestamp)],
};

/** 0.13 and 0.14: progress is a status update, and what the agent ran is in its output. */
export const OPENDEVIN_2024_11: Generation = {
  ...OPENDEVIN_2024_07,
  observations: { ...OBSERVATIONS_2024_07, run: encodeRunWithCommand },
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
