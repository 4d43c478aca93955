import type { ActionKind } from '@tendon/protocol';
import type { ActionFace, ActionStep, Face } from './card.ts';
import { thinkFace } from './think-card.tsx';
import { finishFace } from './finish-card.tsx';
import { rejectFace } from './reject-card.tsx';
import { delegateFace } from './delegate-card.tsx';
import { condensationFace } from './condensation-card.tsx';
import { summarizeFace } from './summarize-card.tsx';
import { planFace } from './plan-card.tsx';
import { browseFace, browseInteractiveFace } from './browse-card.tsx';
import { editFace } from './edit-card.tsx';
import { genericFace } from './generic-card.tsx';
import { ipythonFace } from './ipython-card.tsx';
import { readFace } from './read-card.tsx';
import { runFace } from './run-card.tsx';
import { toolFace } from './tool-card.tsx';
import { writeFace } from './write-card.tsx';

/** Kinds that are rare, or never rows of their own. */
const plain = (verb: string): ((step: ActionStep) => Face) => {
  return (step) =>
    genericFace(
      step.action.action,
      verb,
      [step.action, step.observation].filter((event) => event !== undefined),
    );
};

/** A face for every kind of action: a new kind does not compile until it is here. */
export const ACTION_FACES = {
  null: plain('nothing to do'),
  initialize: plain('set the agent up'),
  start: plain('began a task'),
  pause: plain('asked for a pause'),
  resume: plain('asked to go on'),
  stop: plain('asked to stop'),
  push: plain('pushes a branch'),
  send_pr: plain('opens a pull request'),
  call_tool_mcp: toolFace,
  run: runFace,
  kill: plain('ended a command'),
  run_ipython: ipythonFace,
  read: readFace,
  write: writeFace,
  edit: editFace,
  browse: browseFace,
  browse_interactive: browseInteractiveFace,
  message: plain('a message'),
  system: plain('the prompt'),
  change_agent_state: plain('asked for a state'),
  think: thinkFace,
  finish: finishFace,
  reject: rejectFace,
  delegate: delegateFace,
  recall: plain('looks for notes'),
  summarize: summarizeFace,
  condensation: condensationFace,
  condensation_request: plain('asked to shorten the history'),
  task_tracking: planFace,
  loop_recovery: plain('left a loop'),
  add_task: plain('added a task'),
  modify_task: plain('changed a task'),
} as const satisfies { readonly [K in ActionKind]: ActionFace<K> };
