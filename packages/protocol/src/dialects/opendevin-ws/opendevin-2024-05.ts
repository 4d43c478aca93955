import type { AgentState } from '../../agent-state.ts';
import { messageOf } from '../../codec.ts';
import type { Frame, Phase } from '../dialect.ts';
import { action, endedBy, observation, thinking, inWorkspace, writesOutside } from './frames.ts';
import type { ActionEncoders, Generation } from './generation.ts';
import { OPENDEVIN_2024_03 } from './opendevin-2024-03.ts';

/** The seven states of 0.4 and 0.5, and what stands for those that came later. nothing reports `loading`. */
const STATES = {
  loading: undefined,
  init: 'init',
  running: 'running',
  awaiting_user_input: 'awaiting_user_input',
  paused: 'paused',
  stopped: 'stopped',
  finished: 'finished',
  rejected: 'stopped',
  error: 'error',
  rate_limited: 'running',
  awaiting_user_confirmation: 'awaiting_user_input',
  user_confirmed: 'running',
  user_rejected: 'awaiting_user_input',
} as const satisfies Record<AgentState, string | undefined>;

/**
 * 0.4 and 0.5: state frames, a `thought` on every action of the agent, `talk`, `run_ipython`, `delegate`.
 * Its frontend shows the thoughts of commands and cells; those of other actions come as a `think` before, too.
 */
export const OPENDEVIN_2024_05: Generation = {
  ...OPENDEVIN_2024_03,
  hides: writesOutside,
  actions: withThoughts({
    ...OPENDEVIN_2024_03.actions,
    start: () => [],
    change_agent_state: () => [],
    message: (event) => (event.source === 'user' ? [] : [action('talk', { content: event.args.content, thought: '' }, messageOf(event))]),
    run(event) {
      const { command, background = false, hidden, thought } = event.args;
      return hidden ? [] : [action('run', { command, background, thought }, messageOf(event))];
    },
    run_ipython: (event) => [action('run_ipython', { code: event.args.code, thought: event.args.thought }, messageOf(event))],
    kill: (event) => alsoThought(event.args.thought, action('kill', { id: event.args.id }, messageOf(event))),
    read: (event) => alsoThought(event.args.thought, action('read', { path: inWorkspace(event.args.path) }, messageOf(event))),
    write(event) {
      const { path, content, thought } = event.args;
      return alsoThought(thought, action('write', { path: inWorkspace(path), content }, messageOf(event)));
    },
    browse: (event) => alsoThought(event.args.thought, action('browse', { url: event.args.url }, messageOf(event))),
    delegate(event) {
      const { agent, inputs, thought } = event.args;
      return alsoThought(thought, action('delegate', { agent, inputs }, messageOf(event)));
    },
    finish(event) {
      const { final_thought, outputs, thought } = event.args;
      return [...thinking(final_thought || thought), action('finish', { outputs, thought }, messageOf(event))];
    },
    add_task({ args: { parent, goal, subtasks, thought } }) {
      return alsoThought(thought, action('add_task', { parent, goal, subtasks }, `Added task: ${goal}`));
    },
    modify_task: ({ args: { id, state, thought } }) =>
      alsoThought(thought, action('modify_task', { id, state }, `Set task ${id} to ${state}`)),
  }),
  observations: {
    ...OPENDEVIN_2024_03.observations,
    edit: (event, phase) => OPENDEVIN_2024_03.observations.edit(event, phase).map(withThought),
    run_ipython: (event) => [observation('run_ipython', event.content, { code: event.extras.code }, messageOf(event))],
    delegate: (event) => [observation('delegate', event.content, { outputs: event.extras.outputs }, event.content)],
    agent_state_changed(event, phase) {
      const frames = stateFrames(event.extras.agent_state);
      return event.extras.agent_state === 'error' ? [...frames, ...endedBy(event, phase)] : frames;
    },
  },
  announce: stateFrames,
};

function stateFrames(state: AgentState): readonly Frame[] {
  const task_state = STATES[state];
  return task_state ? [action('change_task_state', { task_state, thought: '' }, `Task state changed to ${task_state}`)] : [];
}

function alsoThought(thought: string, frame: Frame): readonly Frame[] {
  return [...thinking(thought), { ...frame, args: { ...(frame.args as Frame), thought } }];
}

/** The key is on every action, whatever table it came from. */
function withThoughts(table: ActionEncoders): ActionEncoders {
  const rows = Object.entries(table).map(([kind, encode]) => [
    kind,
    (event: never, phase: Phase) => (encode as (event: never, phase: Phase) => readonly Frame[])(event, phase).map(withThought),
  ]);
  return Object.fromEntries(rows) as ActionEncoders;
}

function withThought(frame: Frame): Frame {
  return frame.action === undefined ? frame : { ...frame, args: { thought: '', ...(frame.args as Frame) } };
}
