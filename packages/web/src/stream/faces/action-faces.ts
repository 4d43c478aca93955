import type { ActionKind } from '@tendon/protocol';
import type { ActionFace, ActionStep, Face } from '../face.ts';
import { thinkFace } from './think-face.tsx';
import { finishFace } from './finish-face.tsx';
import { rejectFace } from './reject-face.tsx';
import { delegateFace } from './delegate-face.tsx';
import { condensationFace } from './condensation-face.tsx';
import { summarizeFace } from './summarize-face.tsx';
import { planFace } from './plan-face.tsx';
import { browseFace, browseInteractiveFace } from './browse-face.tsx';
import { editFace } from './edit-face.tsx';
import { genericFace } from './generic-face.tsx';
import { ipythonFace } from './ipython-face.tsx';
import { readFace } from './read-face.tsx';
import { runFace } from './run-face.tsx';
import { toolFace } from './tool-face.tsx';
import { writeFace } from './write-face.tsx';

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
