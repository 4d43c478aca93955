/** Failed steps of the agent. An error that stands alone is none: it is about the task as a whole, and a person must see it. */
import type { Observation } from '@tendon/protocol';
import { isFailure, type StepItem, type StreamItem } from './stream-item.ts';

export function isFailedStep(item: StreamItem | undefined): item is StepItem {
  return item?.type === 'step' && item.action !== undefined && isFailure(item);
}

/** The newest failed step of a row, which may be a fold. */
export function failureIn(item: StreamItem | undefined): StepItem | undefined {
  if (item?.type === 'fold') return item.rows.findLast(isFailedStep);
  return isFailedStep(item) ? item : undefined;
}

/** Whether this is a failed step, and another step of its turn failed after it. */
export function hasNewerFailure(items: readonly StreamItem[], index: number): boolean {
  return isFailedStep(items[index]) && nextFailure(items, index, 1) !== undefined;
}

/** Whether this is a failed step with the output of the failure before it. */
export function repeatsFailure(items: readonly StreamItem[], index: number): boolean {
  const item = items[index];
  if (!isFailedStep(item) || !item.observation!.content.trim()) return false;
  const before = nextFailure(items, index, -1)?.observation;
  return before !== undefined && outcomeOf(before) === outcomeOf(item.observation!);
}

function nextFailure(items: readonly StreamItem[], index: number, step: 1 | -1): StepItem | undefined {
  for (let at = index + step; at >= 0 && at < items.length && items[at]!.type !== 'turn'; at += step) {
    const failure = failureIn(items[at]);
    if (failure) return failure;
  }
  return undefined;
}

function outcomeOf(observation: Observation): string {
  const code = observation.observation === 'run' ? observation.extras.metadata.exit_code : '';
  return `${observation.observation} ${code} ${observation.content}`;
}
