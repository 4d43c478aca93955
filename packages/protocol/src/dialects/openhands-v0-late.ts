import { isAction, isUnknown, type LlmMetrics } from '../event.ts';
import type { Dialect, Frame } from './dialect.ts';
import { openhandsV0 } from './openhands-v0.ts';

/** The values of `task_completed` in 0.40 … 0.51. They show anything else as "completed partially"; later releases do not read it. */
const WORDS: Readonly<Record<string, string>> = { true: 'success', false: 'failure', partial: 'partial' };

/** The context window where none is known. These pages show the used share of it, and would divide by zero. */
const NO_WINDOW = 1_000_000_000;

/** Pages of OpenHands 0.40 … 0.62. An agent that finishes without a value has completed its task. */
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
