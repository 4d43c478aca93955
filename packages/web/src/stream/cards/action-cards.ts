import type { ActionKind } from '@tendon/protocol';
import type { ActionCard, ActionStep, Card } from './card.ts';
import { thinkCard } from './think-card.tsx';
import { finishCard } from './finish-card.tsx';
import { rejectCard } from './reject-card.tsx';
import { delegateCard } from './delegate-card.tsx';
import { condensationCard } from './condensation-card.tsx';
import { summarizeCard } from './summarize-card.tsx';
import { planCard } from './plan-card.tsx';
import { browseCard, browseInteractiveCard } from './browse-card.tsx';
import { editCard } from './edit-card.tsx';
import { genericCard } from './generic-card.tsx';
import { ipythonCard } from './ipython-card.tsx';
import { readCard } from './read-card.tsx';
import { runCard } from './run-card.tsx';
import { toolCard } from './tool-card.tsx';
import { writeCard } from './write-card.tsx';

/** Kinds that are rare, or never rows of their own. */
const plain = (verb: string): ((step: ActionStep) => Card) => {
  return (step) =>
    genericCard(
      step.action.action,
      verb,
      [step.action, step.observation].filter((event) => event !== undefined),
    );
};

/** A card for every kind of action: a new kind does not compile until it is here. */
export const ACTION_CARDS = {
  null: plain('nothing to do'),
  initialize: plain('set the agent up'),
  start: plain('began a task'),
  pause: plain('asked for a pause'),
  resume: plain('asked to go on'),
  stop: plain('asked to stop'),
  push: plain('pushes a branch'),
  send_pr: plain('opens a pull request'),
  call_tool_mcp: toolCard,
  run: runCard,
  kill: plain('ended a command'),
  run_ipython: ipythonCard,
  read: readCard,
  write: writeCard,
  edit: editCard,
  browse: browseCard,
  browse_interactive: browseInteractiveCard,
  message: plain('a message'),
  system: plain('the prompt'),
  change_agent_state: plain('asked for a state'),
  think: thinkCard,
  finish: finishCard,
  reject: rejectCard,
  delegate: delegateCard,
  recall: plain('looks for notes'),
  summarize: summarizeCard,
  condensation: condensationCard,
  condensation_request: plain('asked to shorten the history'),
  task_tracking: planCard,
  loop_recovery: plain('left a loop'),
  add_task: plain('added a task'),
  modify_task: plain('changed a task'),
} as const satisfies { readonly [K in ActionKind]: ActionCard<K> };
