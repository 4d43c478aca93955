import { systemClock, type Runtime } from '@tendon/server/headless';
import { differenceOf, type Difference } from './difference-of.ts';
import type { Step } from './planned-steps.ts';

export interface ReplayResult {
  readonly done: number;
  /** Those with something to compare with. */
  readonly compared: number;
  readonly left: number;
  readonly differences: readonly (Difference & Pick<Step, 'event' | 'action'>)[];
}

export interface ReplayStepsOptions {
  /** Go on after a difference. */
  readonly all: boolean;
  readonly signal: AbortSignal;
  readonly onStep: (step: Step, index: number) => void;
}

/** Backstop: a command that prints forever and has no time limit of its own. */
const STEP_SECONDS = 1_800;
const GRACE_SECONDS = 60;

/** Does the steps one after the other. Rejects with a user-facing error when the sandbox is lost, and when it is cancelled. */
export async function replaySteps(runtime: Runtime, steps: readonly Step[], options: ReplayStepsOptions): Promise<ReplayResult> {
  const counts = { done: 0, compared: 0, left: 0 };
  const differences: ReplayResult['differences'][number][] = [];
  for (const [index, step] of steps.entries()) {
    options.onStep(step, index);
    if (step.left !== undefined) {
      counts.left++;
      continue;
    }
    const replayed = await carryOut(runtime, step, index, options.signal);
    counts.done++;
    if (!step.recorded) continue;
    counts.compared++;
    const difference = differenceOf(step.recorded, replayed, runtime.workspace);
    if (difference) differences.push({ ...difference, event: step.event, action: step.action });
    if (difference && !options.all) break;
  }
  return { ...counts, differences };
}

async function carryOut(runtime: Runtime, { action: draft, event }: Step, id: number, cancelled: AbortSignal) {
  const { cause: _cause, executor: _executor, ...rest } = draft;
  const action = { ...rest, id, timestamp: systemClock.now().toISOString(), source: 'agent' as const, executor: runtime.incarnation };
  const limit = AbortSignal.timeout(((draft.timeout ?? STEP_SECONDS) + GRACE_SECONDS) * 1_000);
  const result = await runtime.execute(action, { signal: AbortSignal.any([cancelled, limit]), isFresh: true });
  cancelled.throwIfAborted();
  if (result.outcome !== 'observed') throw new Error(`Event ${event} could not be done again: ${result.reason}.`);
  return result.observation;
}
