import type { AgentState } from '../../agent-state.ts';
import type { Observation } from '../../event.ts';
import { commandId } from '../additive-twins.ts';
import { withPictures } from '../cell-pictures.ts';
import { cutMiddle } from '../../cut-middle.ts';
import type { Frame, Phase } from '../dialect.ts';
import { behindCommand, terminalLines } from '../terminal-lines.ts';
import { endedBy } from './frames.ts';
import type { ObservationEncoders } from './generation.ts';
import { memoriesOf } from './memories-of.ts';
import { shownAction, shownObservation, succeeded } from './w4-frames.ts';

/** 0.6 to 0.14: results of kinds that did not exist yet become a `success`, whose `message` is shown in the chat. */
export const W4_OBSERVATIONS: ObservationEncoders = {
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
  error: (event) => [shownObservation(event, 'error', {})],
  success: (event) => [shownObservation(event, 'success', {})],
  user_rejected: (event) => [shownObservation(event, 'user_rejected', {})],
};

/** `rate_limited` came in 2025. A failure that nothing else reported is sent with the state. */
export function encodeState(event: Observation<'agent_state_changed'>, state: AgentState, phase: Phase): readonly Frame[] {
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
export function encodeRunWithCommand(event: Observation<'run'>): readonly Frame[] {
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
