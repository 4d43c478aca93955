import { isAction, isUnknown } from '../event.ts';
import type { Dialect, Frame } from './dialect.ts';
import { openhandsV0 } from './openhands-v0.ts';

/** How 0.40 … 0.51 say whether a task is done. Everything else reads as "completed partially" there; later ones do not look. */
const WORDS: Readonly<Record<string, string>> = { true: 'success', false: 'failure', partial: 'partial' };

/** Pages of OpenHands 0.40 … 0.62. An agent that finishes and says no more has done its task. */
export const openhandsV0Late: Dialect = {
  ...openhandsV0,
  encode(event, phase) {
    const frames = openhandsV0.encode(event, phase);
    if (isUnknown(event) || !isAction(event) || event.action !== 'finish') return frames;
    const task_completed = WORDS[event.args.task_completed ?? 'true'];
    return frames.map((frame) => ({ ...frame, args: { ...(frame.args as Frame), task_completed } }));
  },
};
