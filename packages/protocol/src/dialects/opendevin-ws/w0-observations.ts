import type { AgentState } from '../../agent-state.ts';
import { messageOf } from '../../codec.ts';
import type { Observation } from '../../event.ts';
import { commandId } from '../additive-twins.ts';
import { cutMiddle } from '../../cut-middle.ts';
import type { Frame } from '../dialect.ts';
import { action, endedBy, line, observation, chatText } from './frames.ts';
import type { ObservationEncoders } from './generation.ts';
import { memoriesOf } from './memories-of.ts';
import { inWorkspace } from './in-workspace.ts';

/** W0 has `run`, `read`, `write`, `browse`, `recall`, `message`, `error`; results of later kinds become a `message`. */
export const W0_OBSERVATIONS: ObservationEncoders = {
  null: hidden,
  run: encodeRun,
  run_ipython: (event) => [
    observation('run', event.content, commandExtras(-1, event.extras.code, event.success === false ? 1 : 0), messageOf(event)),
  ],
  read: (event) => [observation('read', event.content, { path: inWorkspace(event.extras.path) }, messageOf(event))],
  write: (event) => [observation('write', event.content, { path: inWorkspace(event.extras.path) }, messageOf(event))],
  edit: encodeEdit,
  download: (event) => chatText(messageOf(event)),
  browse: encodeBrowse,
  chat: (event) => [observation('chat', event.content, {}, event.content)],
  message: content,
  agent_state_changed: (event, phase) =>
    event.extras.agent_state === 'error' ? endedBy(event, phase) : stateFrames(event.extras.agent_state),
  think: hidden,
  condense: content,
  delegate: content,
  recall: encodeRecall,
  task_tracking: content,
  loop_detection: content,
  mcp: content,
  error: (event) => [observation('error', event.content, {}, `Oops. Something went wrong: ${event.content}`)],
  success: content,
  user_rejected: content,
};

function hidden(): readonly Frame[] {
  return [];
}

function content(event: Observation): readonly Frame[] {
  return chatText(event.content);
}

function encodeRun(event: Observation<'run'>): readonly Frame[] {
  const { command, metadata, hidden: isHidden } = event.extras;
  if (isHidden) return [];
  const extras = { ...commandExtras(commandId(event), command, metadata.exit_code), metadata };
  return [observation('run', cutMiddle(event.content, { mark: 'beside' }), extras, messageOf(event))];
}

function commandExtras(command_id: number, command: string, exit_code: number): Frame {
  return { command_id, command, exit_code };
}

function encodeEdit(event: Observation<'edit'>): readonly Frame[] {
  const { new_content } = event.extras;
  const path = inWorkspace(event.extras.path);
  const written = new_content === null ? [] : [action('write', { path, content: new_content }, `Writing file: ${path}`)];
  return [...written, observation('write', event.content, { path }, messageOf(event))];
}

function encodeBrowse(event: Observation<'browse'>): readonly Frame[] {
  const { url, screenshot, error, status_code, html } = event.extras;
  const extras = {
    url,
    /** Bare base64: spring's frontends put the `data:` prefix on themselves. */
    screenshot: screenshot.replace(/^data:[^,]*,/, ''),
    status_code: typeof status_code === 'number' ? status_code : error ? 500 : 200,
    error,
  };
  return [observation('browse', html || event.content, extras, messageOf(event))];
}

function encodeRecall(event: Observation<'recall'>): readonly Frame[] {
  if (event.extras.recall_type === 'workspace_context') return [];
  const extras = { memories: memoriesOf(event), role: 'assistant', query: event.extras.query ?? '' };
  return [observation('recall', event.content, extras, 'The agent recalled memories.')];
}

/** There are no state frames yet and `finish` is the only end; what a person must know is shown in the chat. */
const STATE_WORDS = {
  loading: '',
  init: '',
  running: '',
  awaiting_user_input: '',
  paused: 'The agent is paused.',
  stopped: 'The agent has stopped.',
  finished: '',
  rejected: '',
  error: '',
  rate_limited: 'The model’s provider asked for a pause; the agent goes on by itself.',
  awaiting_user_confirmation: 'The agent waits for a confirmation, which this client cannot give.',
  user_confirmed: '',
  user_rejected: '',
} as const satisfies Record<AgentState, string>;

function stateFrames(state: AgentState): readonly Frame[] {
  return STATE_WORDS[state] ? [line(STATE_WORDS[state])] : [];
}
