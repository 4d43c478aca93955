/**
 * The agent going in circles: the same step with the same result, two steps in turn, the same error whatever it tries, thoughts without a
 * step. What may have changed something counts much later: repeating a command that appends, waits or polls is legal work. The calls of
 * one answer count as one step, because the model saw no result, and no hint, between them.
 */
import { ACTIONS, type Action, type Observation } from '@tendon/protocol';

/** Steps in a row, and the id of the first action of them. */
interface Run {
  readonly count: number;
  readonly from: number;
}

export interface Repetition {
  /** Action and observation of the last step, as text; undefined when there was none or it was too long to be a repetition. */
  readonly signature: string | undefined;
  readonly id: number;
  /** It failed or cannot have changed anything. */
  readonly isFruitless: boolean;
  /** The step before that. */
  readonly before: { readonly signature: string | undefined; readonly id: number };
  /** What went wrong in the last step, without what was different about it. */
  readonly error: string | undefined;
  readonly same: Run;
  readonly alternating: Run;
  readonly failing: Run;
  readonly thinking: Run;
}

const NO_RUN: Run = Object.freeze({ count: 0, from: -1 });

export const NO_REPETITION: Repetition = Object.freeze({
  signature: undefined,
  id: -1,
  isFruitless: false,
  before: Object.freeze({ signature: undefined, id: -1 }),
  error: undefined,
  same: NO_RUN,
  alternating: NO_RUN,
  failing: NO_RUN,
  thinking: NO_RUN,
});

const MAX_SIGNATURE = 64 * 1024;

export function repeat(last: Repetition, action: Action, observation: Observation): Repetition {
  const { thought, ...others } = action.args as Record<string, unknown>;
  // A thought beside an action is worded differently each time; to `think` it is all there is.
  const args = action.action === 'think' ? thought : others;
  const text = JSON.stringify([action.action, args, observation.observation, observation.content]);
  const signature = text.length > MAX_SIGNATURE ? undefined : text;
  const isFruitless = !mayHaveChanged(action, observation);
  const error = errorOf(action, observation);
  const { id } = action;
  const longer = ({ count, from }: Run): Run => ({ count: isOfSameAnswer(action) ? count : count + 1, from });
  const isSame = signature !== undefined && signature === last.signature;
  const isBack = signature !== undefined && signature === last.before.signature && !isSame && isFruitless && last.isFruitless;
  return {
    signature,
    id,
    isFruitless,
    before: { signature: last.signature, id: last.id },
    error,
    same: isSame ? longer(last.same) : { count: 1, from: id },
    alternating: isBack ? (last.alternating.count > 0 ? longer(last.alternating) : { count: 3, from: last.before.id }) : NO_RUN,
    failing: error === undefined ? NO_RUN : error === last.error ? longer(last.failing) : { count: 1, from: id },
    thinking: action.action !== 'think' ? NO_RUN : last.thinking.count > 0 ? longer(last.thinking) : { count: 1, from: id },
  };
}

/** As the action before it: the first one of an answer has all of its calls with it. */
function isOfSameAnswer({ tool_call_metadata: call }: Action): boolean {
  const choices = call?.model_response?.choices;
  return Array.isArray(choices) && choices.length === 0;
}

function mayHaveChanged(action: Action, observation: Observation): boolean {
  if (!ACTIONS[action.action].traits.mutating || observation.observation === 'error') return false;
  // −1: still running, so it is being waited for.
  return observation.observation !== 'run' || observation.extras.metadata.exit_code <= 0;
}

/** Shorter ones are the same by accident. */
const MIN_ERROR_CHARS = 10;
const MAX_ERROR_CHARS = 1_000;

/** The arguments are taken out of it, and numbers: the same complaint about another path is the same error. */
function errorOf({ action, args }: Action, observation: Observation): string | undefined {
  const hasFailed = observation.observation === 'error' || (observation.observation === 'run' && observation.extras.metadata.exit_code > 0);
  if (!hasFailed) return undefined;
  const given = Object.values(args).filter((value): value is string => typeof value === 'string' && value.length > 2);
  const words = given
    .flatMap((value) => [value, ...value.split(/\s+/).filter((word) => word.length > 2)])
    .toSorted((a, b) => b.length - a.length)
    .slice(0, 50);
  const content = words.reduce((text, word) => text.replaceAll(word, ''), observation.content.slice(0, 4 * MAX_ERROR_CHARS));
  const bare = content.replaceAll(/\d+/g, '0').slice(0, MAX_ERROR_CHARS).trim();
  return bare.length < MIN_ERROR_CHARS ? undefined : `${action}: ${bare}`;
}

/** The agent goes in circles; `isHopeless`: it has gone on beyond the hint. */
export interface Circle {
  readonly isHopeless: boolean;
  /** What it did. */
  readonly words: string;
  /** The first action of it. */
  readonly from: number;
}

/** Steps after which the agent is given a hint, and after which it is halted. */
const FRUITLESS = { hint: 3, halt: 4 };
const FRUITFUL = { hint: 40, halt: 50 };
const ALTERNATING = { hint: 6, halt: 8 };
const FAILING = { hint: 6, halt: 10 };
const THINKING = { hint: 12, halt: 40 };

export function circleOf({ same, alternating, failing, thinking, isFruitless }: Repetition): Circle | undefined {
  const circles = [
    circle(same, isFruitless ? FRUITLESS : FRUITFUL, `did the same thing ${same.count} times with the same result`),
    circle(alternating, ALTERNATING, `did the same two things in turn, ${alternating.count} steps long, with the same results`),
    circle(failing, FAILING, `got the same error ${failing.count} times in a row`),
    circle(thinking, THINKING, `thought ${thinking.count} times in a row and did nothing`),
  ].filter((each) => each !== undefined);
  return circles.find(({ isHopeless }) => isHopeless) ?? circles[0];
}

function circle({ count, from }: Run, { hint, halt }: { hint: number; halt: number }, words: string): Circle | undefined {
  return count < hint ? undefined : { isHopeless: count >= halt, words, from };
}
