import { failed, writesOutside, action, line, observation, thinking, inWorkspace, endedBy, chatText, memoriesOf } from './frames.ts';
import type { Generation, ActionEncoders, ObservationEncoders } from './generation.ts';
import { messageOf } from '../../codec.ts';
import type { Action, Observation } from '../../event.ts';
import type { Frame } from '../dialect.ts';
import type { AgentState } from '../../agent-state.ts';
import { commandId } from '../additive-twins.ts';
import { cutMiddle } from '../../cut-middle.ts';

/** opendevin-2024-03 has `run`, `read`, `write`, `browse`, `recall`, `message`, `error`; results of later kinds become a `message`. */
const OBSERVATIONS_2024_03: ObservationEncoders = {
  null: hidden,
  run: encodeRun,
  run_ipython: (event) => [
    observation('run', event.content, commandExtras(-1, event.extras.code, event.success === false ? 1 : 0), messageOf(event)),
  ],
  read: (event) => [observation('read', event.content, { path: inWorkspace(event.extras.path) }, messageOf(event))],
  write: (event) => [observation('write', event.content, { path: inWorkspace(event.extras.path) }, messageOf(event))],
  edit: encodeEditResult,
  download: (event) => chatText(messageOf(event)),
  browse: encodeBrowse,
  chat: (event) => [observation('chat', event.content, {}, event.content)],
  message: asMessage,
  agent_state_changed: (event, phase) =>
    event.extras.agent_state === 'error' ? endedBy(event, phase) : stateFrames(event.extras.agent_state),
  think: hidden,
  condense: asMessage,
  delegate: asMessage,
  recall: encodeRecall,
  task_tracking: asMessage,
  loop_detection: asMessage,
  mcp: asMessage,
  restore_checkpoint: asMessage,
  error: (event) => [observation('error', event.content, {}, `Oops. Something went wrong: ${event.content}`)],
  success: asMessage,
  user_rejected: asMessage,
};

function asMessage(event: Observation): readonly Frame[] {
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

function encodeEditResult(event: Observation<'edit'>): readonly Frame[] {
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

/**
 * opendevin-2024-03 has `read`, `write`, `run`, `kill`, `browse`, `recall`, `think`, `finish`, `summarize`, `add_task`, `modify_task`.
 * A `thought` beside an action becomes a `think` before it; kinds that did not exist yet become a `think` that describes them.
 */
const ACTIONS_2024_03: ActionEncoders = {
  null: hidden,
  initialize: hidden,
  start: (event, phase) => messageOfUser(event.args.task, phase),
  pause: hidden,
  resume: hidden,
  stop: hidden,
  push: described,
  send_pr: described,
  call_tool_mcp: described,
  run(event) {
    const { command, background = false, hidden: isHidden, thought } = event.args;
    return isHidden ? [] : [...thinking(thought), action('run', { command, background }, messageOf(event))];
  },
  kill: (event) => [...thinking(event.args.thought), action('kill', { id: event.args.id }, messageOf(event))],
  run_ipython: (event) => [
    ...thinking(event.args.thought),
    action('run', { command: event.args.code, background: false }, messageOf(event)),
  ],
  read: (event) => [...thinking(event.args.thought), action('read', { path: inWorkspace(event.args.path) }, messageOf(event))],
  write: (event) => [
    ...thinking(event.args.thought),
    action('write', { path: inWorkspace(event.args.path), content: event.args.content }, messageOf(event)),
  ],
  edit: encodeEdit,
  browse: (event) => [...thinking(event.args.thought), action('browse', { url: event.args.url }, messageOf(event))],
  browse_interactive: described,
  message: (event, phase) => (event.source === 'user' ? messageOfUser(event.args.content, phase) : messageOfAgent(event.args)),
  /** The prompt was the server's own business then. */
  system: hidden,
  /** Nobody asked for states then; who does gets an answer. */
  change_agent_state: (event, phase) => (event.source === 'user' && phase === 'live' ? [line(messageOf(event))] : []),
  think: (event) => thinking(event.args.thought),
  finish: (event) => [...thinking(event.args.final_thought || event.args.thought), action('finish', {}, messageOf(event))],
  reject: (event) => [...thinking(event.args.thought), failed(messageOf(event))],
  delegate: described,
  /** Looking up the workspace before a task is the server's own doing, and of no interest to anybody. */
  recall: ({ args: { recall_type, query, thought } }) =>
    recall_type === 'workspace_context' ? [] : [...thinking(thought), action('recall', { query }, `Searching for: ${query}`)],
  summarize: (event) => [action('summarize', { summary: event.args.summary }, messageOf(event))],
  condensation: hidden,
  condensation_request: hidden,
  task_tracking: (event) =>
    thinking([messageOf(event), ...event.args.task_list.map((task) => `- [${task.status}] ${task.title}`)].join('\n')),
  loop_recovery: hidden,
  restore_checkpoint: hidden,
  add_task: ({ args: { parent, goal, subtasks } }) => [action('add_task', { parent, goal, subtasks }, `Added task: ${goal}`)],
  modify_task: ({ args: { id, state } }) => [action('modify_task', { id, state }, `Set task ${id} to ${state}`)],
};

function hidden(): readonly Frame[] {
  return [];
}

function described(event: Action<'push' | 'send_pr' | 'call_tool_mcp' | 'browse_interactive' | 'delegate'>): readonly Frame[] {
  const { thought } = event.args;
  return [...thinking(typeof thought === 'string' ? thought : ''), ...thinking(messageOf(event))];
}

/** Live it is the answer to the client's own frame, which spring's clients have on screen already; in a replay it is theirs to show. */
function messageOfUser(text: string, phase: 'live' | 'replay'): readonly Frame[] {
  return phase === 'live' ? [line('Starting new task...')] : [observation('chat', text, {}, text)];
}

/** These clients have no other sign that it is their turn: a `finish` that the agent did not call follows the words that end its work. */
function messageOfAgent({ content, wait_for_response }: Action<'message'>['args']): readonly Frame[] {
  return wait_for_response ? [...thinking(content), action('finish', {}, 'The agent waits for your answer.')] : thinking(content);
}

/** The new content is known when the edit is done: its observation brings the `write`. Looking is reading. */
function encodeEdit({ args }: Action<'edit'>): readonly Frame[] {
  if (args.command === 'view')
    return [...thinking(args.thought), action('read', { path: inWorkspace(args.path) }, `Reading file: ${args.path}`)];
  const details = [
    args.command && args.command !== 'write' ? `${args.command} in ${args.path}` : `Editing ${args.path}`,
    ...(args.insert_line === null ? [] : [`after line ${args.insert_line}`]),
    ...(args.old_str === null ? [] : [`old:\n${args.old_str}`]),
    ...(args.new_str === null ? [] : [`new:\n${args.new_str}`]),
    ...(args.file_text === null ? [] : [args.file_text]),
    ...(args.content === '' ? [] : [args.content]),
  ];
  return [...thinking(args.thought), ...thinking(details.join('\n'))];
}

/** Spring 2024, the letter of the seed protocol documents: one session per socket, no ids, no tokens, no states. */
export const OPENDEVIN_2024_03: Generation = {
  greeting: [{ action: 'initialize', message: 'Control loop started.' }],
  hides: () => false,
  actions: ACTIONS_2024_03,
  observations: OBSERVATIONS_2024_03,
  unknown({ raw }) {
    const { id: _id, timestamp: _time, source: _source, cause: _cause, executor: _inside, reasoning: _opaque, ...frame } = raw;
    return frame;
  },
  announce: () => [],
  status: (frame) => (frame.type === 'error' ? [failed(frame.message)] : []),
  error: (error) => failed(error.message),
};

/** 0.3: the same at another endpoint, with a file tree of the workspace. */
export const OPENDEVIN_2024_04: Generation = { ...OPENDEVIN_2024_03, hides: writesOutside };
