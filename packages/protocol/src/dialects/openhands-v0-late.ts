import { isAction, isUnknown, type LlmMetrics } from '../event.ts';
import type { Dialect, Frame } from './dialect.ts';
import { openhandsV0 } from './openhands-v0.ts';

/** How 0.40 … 0.51 say whether a task is done. Everything else reads as "completed partially" there; later ones do not look. */
const WORDS: Readonly<Record<string, string>> = { true: 'success', false: 'failure', partial: 'partial' };

/** Where none is known. These pages show how much of it is used, and would show the infinite part of nothing. */
const NO_WINDOW = 1_000_000_000;

/** Pages of OpenHands 0.40 … 0.62. An agent that finishes and says no more has done its task. */
export const openhandsV0Late: Dialect = {
  ...openhandsV0,
  encode(event, phase) {
    const frames = openhandsV0.encode(event, phase);
    if (isUnknown(event) || !isAction(event)) return frames;
    const shown = frames.map(withWindow);
    if (event.action !== 'finish') return shown;
    const task_completed = WORDS[event.args.task_completed ?? 'true'];
    return shown.map((frame) => ({ ...frame, args: { ...(frame.args as Frame), task_completed } }));
  },
};

function withWindow(frame: Frame): Frame {
  const metrics = frame.llm_metrics as Partial<LlmMetrics> | undefined;
  const usage = metrics?.accumulated_token_usage;
  if (usage?.context_window !== 0) return frame;
  return { ...frame, llm_metrics: { ...metrics, accumulated_token_usage: { ...usage, context_window: NO_WINDOW } } };
}
