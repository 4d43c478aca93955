import type { ActionKind } from './event.ts';

/**
 * Who answers each action with an observation, as plain data: `reduce` needs it and must not pull in zod.
 * A test holds it equal to the traits of the definitions.
 */
const ANSWERED_BY = {
  null: 'none',
  initialize: 'none',
  start: 'none',
  pause: 'none',
  resume: 'none',
  stop: 'none',
  push: 'none',
  send_pr: 'none',
  call_tool_mcp: 'core',
  run: 'runtime',
  kill: 'runtime',
  run_ipython: 'runtime',
  read: 'runtime',
  write: 'runtime',
  edit: 'runtime',
  browse: 'runtime',
  browse_interactive: 'runtime',
  restore_checkpoint: 'runtime',
  message: 'none',
  system: 'none',
  change_agent_state: 'none',
  think: 'core',
  finish: 'none',
  reject: 'none',
  delegate: 'core',
  recall: 'core',
  summarize: 'none',
  condensation: 'none',
  condensation_request: 'none',
  task_tracking: 'core',
  loop_recovery: 'none',
  add_task: 'none',
  modify_task: 'none',
} as const satisfies Record<ActionKind, 'runtime' | 'core' | 'none'>;

/** Kinds that the executor carries out. */
export type RunnableKind = { [K in ActionKind]: (typeof ANSWERED_BY)[K] extends 'runtime' ? K : never }[ActionKind];

export function answeredBy(kind: ActionKind): 'runtime' | 'core' | 'none' {
  return ANSWERED_BY[kind];
}

export function isRunnable(kind: ActionKind): kind is RunnableKind {
  return ANSWERED_BY[kind] === 'runtime';
}
