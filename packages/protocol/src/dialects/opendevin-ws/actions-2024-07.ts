import { messageOf } from '../../codec.ts';
import type { Action } from '../../event.ts';
import type { Frame } from '../dialect.ts';
import type { ActionEncoders } from './generation.ts';
import { saying, shownAction } from './frames-2024-07.ts';

/**
 * 0.6 to 0.14. Frontends show the thoughts of commands, cells and browser actions; those of other actions come as a `message` before, too.
 * Arguments of 0.6 (`background`) and of 0.9 (`blocking`, `keep_prompt`, `is_confirmed`) stand side by side; kinds that did not exist yet are described.
 */
export const ACTIONS_2024_07: ActionEncoders = {
  null: hidden,
  initialize: hidden,
  start: (event) => saying(event, event.args.task),
  pause: hidden,
  resume: hidden,
  stop: hidden,
  push: described,
  send_pr: described,
  call_tool_mcp: (event) => [...saying(event, event.args.thought), ...described(event)],
  run(event) {
    const { command, background = false, blocking, confirmation_state: is_confirmed, hidden: isHidden, thought } = event.args;
    return isHidden ? [] : [shownAction(event, 'run', { command, thought, blocking, keep_prompt: true, is_confirmed, background })];
  },
  kill(event) {
    const { id, thought } = event.args;
    return withThought(event, { command_id: /^-?\d{1,9}$/.test(id) ? Number(id) : -1, thought });
  },
  run_ipython(event) {
    const { code, thought, confirmation_state: is_confirmed, kernel_init_code } = event.args;
    return [shownAction(event, 'run_ipython', { code, thought, is_confirmed, kernel_init_code })];
  },
  read: (event) => withThought(event, pick(event.args, ['path', 'start', 'end', 'thought'])),
  write: (event) => withThought(event, pick(event.args, ['path', 'content', 'start', 'end', 'thought'])),
  edit: encodeEdit,
  browse(event) {
    const { url, thought } = event.args;
    return [...saying(event, thought), shownAction(event, 'browse', { url, thought }, { message: `Browsing URL: ${url}` })];
  },
  browse_interactive(event) {
    const args = pick(event.args, ['browser_actions', 'thought', 'browsergym_send_msg_to_user']);
    return [shownAction(event, 'browse_interactive', args, { message: `Executing browser actions: ${event.args.browser_actions}` })];
  },
  message(event) {
    const { content, image_urls: images_urls, wait_for_response } = event.args;
    return [shownAction(event, 'message', { content, images_urls, wait_for_response })];
  },
  /** The prompt was the server's own business then. */
  system: hidden,
  change_agent_state: hidden,
  think: (event) => saying(event, event.args.thought),
  finish(event) {
    const { final_thought, outputs, thought } = event.args;
    return [shownAction(event, 'finish', { outputs, thought }, { message: final_thought || messageOf(event) })];
  },
  reject: (event) => withThought(event, pick(event.args, ['outputs', 'thought'])),
  delegate: (event) => withThought(event, pick(event.args, ['agent', 'inputs', 'thought'])),
  /** Looking up the workspace before a task is the server's own doing, and of no interest to anybody. */
  recall(event) {
    const { recall_type, query, thought } = event.args;
    if (recall_type === 'workspace_context') return [];
    return [...saying(event, thought), shownAction(event, 'recall', { query, thought }, { message: `Searching for: ${query}` })];
  },
  summarize: (event) => saying(event, event.args.summary),
  condensation: hidden,
  condensation_request: hidden,
  task_tracking: (event) =>
    saying(event, [messageOf(event), ...event.args.task_list.map((task) => `- [${task.status}] ${task.title}`)].join('\n')),
  loop_recovery: hidden,
  restore_checkpoint: hidden,
  add_task: (event) => withThought(event, pick(event.args, ['parent', 'goal', 'subtasks', 'thought'])),
  modify_task: (event) => withThought(event, { task_id: event.args.id, state: event.args.state, thought: event.args.thought }),
};

function hidden(): readonly Frame[] {
  return [];
}

function described(event: Action): readonly Frame[] {
  return saying(event, messageOf(event));
}

function withThought(event: Action & { readonly args: { readonly thought: string } }, args: Frame): readonly Frame[] {
  return [...saying(event, event.args.thought), shownAction(event, event.action, args)];
}

function pick<T extends object>(args: T, keys: readonly (keyof T)[]): Frame {
  return Object.fromEntries(keys.map((key) => [key, args[key]]));
}

/** The new content is known when the edit is done: its observation brings the `write`. Looking is reading. Once decided it is not shown again. */
function encodeEdit(event: Action<'edit'>): readonly Frame[] {
  const { path, command, thought, confirmation_state: decided = 'awaiting_confirmation' } = event.args;
  if (decided !== 'awaiting_confirmation') return [];
  if (command !== 'view')
    return [...saying(event, thought), ...saying(event, command === 'create' ? `Creating ${path}` : `Editing ${path}`)];
  return [
    ...saying(event, thought),
    shownAction(event, 'read', { path, start: 0, end: -1, thought }, { message: `Reading file: ${path}` }),
  ];
}
