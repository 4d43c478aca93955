import type { AgentState, Event } from '@tendon/protocol';
import { EXIT } from '../add-command.ts';

/** States in which a run is over: nobody is there to answer a question or to go on. */
const ENDS = [
  'finished',
  'rejected',
  'error',
  'stopped',
  'paused',
  'awaiting_user_input',
  'awaiting_user_confirmation',
] as const satisfies readonly AgentState[];

type End = (typeof ENDS)[number];

/** The state that ends the run, if this event is one. */
export function endOf(event: Event): End | undefined {
  if (!('observation' in event) || event.observation !== 'agent_state_changed') return undefined;
  const state = event.extras.agent_state;
  return ENDS.find((end) => end === state);
}

/** What is known of the run beside the state that ended it. */
export interface LastWords {
  /** What the agent itself answered about its task when it finished. */
  readonly isDone: boolean;
  /** Its last message offers answers to choose from. */
  readonly asks: boolean;
}

/** An answer in words is done: there may be nothing to act on. */
export function exitCodeOf(end: End, { isDone, asks }: LastWords): number {
  if (end === 'awaiting_user_confirmation' || (end === 'awaiting_user_input' && asks)) return EXIT.undecided;
  if (end === 'finished') return isDone ? EXIT.done : EXIT.failed;
  return end === 'awaiting_user_input' ? EXIT.done : EXIT.failed;
}

/** Undefined when this event is not the agent's last word. */
export function saysDone(event: Event): boolean | undefined {
  return 'action' in event && event.action === 'finish' ? event.args.task_completed !== 'false' : undefined;
}
