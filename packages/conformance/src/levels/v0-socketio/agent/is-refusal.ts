import type { Frame } from '../../../target/frames.ts';

/** A refusal, in whichever form it comes. */
export function isRefusal({ error, observation, status_update: isStatus, type }: Frame): boolean {
  return error !== undefined || observation === 'error' || (isStatus === true && type === 'error');
}
