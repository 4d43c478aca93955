/**
 * The agent doing the same thing with the same result, over and over. What may have changed something counts much later:
 * repeating a command that appends, waits or polls is legal work.
 */
import { ACTIONS, type Action, type Observation } from '@tendon/protocol';

export interface Repetition {
  /** Action and observation of the last step, as text; undefined when there was none or it was too long to be a repetition. */
  readonly signature: string | undefined;
  /** How often in a row. */
  readonly count: number;
  readonly limit: number;
}

export const NO_REPETITION: Repetition = Object.freeze({ signature: undefined, count: 0, limit: Number.POSITIVE_INFINITY });

/** A step that failed or cannot have changed anything. */
const FRUITLESS_LIMIT = 4;
const FRUITFUL_LIMIT = 50;
const MAX_SIGNATURE = 64 * 1024;

export function repeat(last: Repetition, action: Action, observation: Observation): Repetition {
  const { thought, ...others } = action.args as Record<string, unknown>;
  // A thought beside an action is worded differently each time; to `think` it is all there is.
  const args = action.action === 'think' ? thought : others;
  const text = JSON.stringify([action.action, args, observation.observation, observation.content]);
  const signature = text.length > MAX_SIGNATURE ? undefined : text;
  const count = signature !== undefined && signature === last.signature ? last.count + 1 : 1;
  return { signature, count, limit: mayHaveChanged(action, observation) ? FRUITFUL_LIMIT : FRUITLESS_LIMIT };
}

export function isStuck({ count, limit }: Repetition): boolean {
  return count >= limit;
}

function mayHaveChanged(action: Action, observation: Observation): boolean {
  if (!ACTIONS[action.action].traits.mutating || observation.observation === 'error') return false;
  // −1: still running, so it is being waited for.
  return observation.observation !== 'run' || observation.extras.metadata.exit_code <= 0;
}
