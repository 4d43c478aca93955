import { messageOf } from '../../codec.ts';
import type { Action } from '../../event.ts';
import type { Frame } from '../dialect.ts';
import { action, failed, line, observation, thinking } from './frames.ts';
import type { ActionEncoders } from './generation.ts';
import { inWorkspace } from './in-workspace.ts';

/**
 * W0 has `read`, `write`, `run`, `kill`, `browse`, `recall`, `think`, `finish`, `summarize`, `add_task`, `modify_task`.
 * A `thought` beside an action becomes a `think` before it; kinds that did not exist yet become a `think` that describes them.
 */
export const W0_ACTIONS: ActionEncoders = {
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
