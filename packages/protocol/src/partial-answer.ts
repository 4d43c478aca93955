/**
 * What the deltas of an answer give so far: the same fold for a client that shows it and for the server, which gives it to clients that come later.
 *
 * Invariants
 * PA1  A text begins where the answer's part does: a piece whose beginning is not known is left out, never put in another place.
 * PA2  At most `MAX_TEXT` characters a part, its beginning.
 */
import { isAction, isObservation, type Event } from './event.ts';
import type { DeltaFrame } from './volatile.ts';

const MAX_TEXT = 262_144;

export interface PartialAnswer {
  /** The id that the first event of the answer will have. */
  readonly turn: number;
  readonly text: string;
  readonly reasoning: string;
  readonly tool: string;
}

export function withDelta(answer: PartialAnswer | undefined, { turn, part, offset, text }: DeltaFrame): PartialAnswer | undefined {
  if (answer && turn < answer.turn) return answer;
  const known = answer?.turn === turn ? answer : { turn, text: '', reasoning: '', tool: '' };
  if (offset > known[part].length) return answer;
  // An offset before the end means that the provider started over.
  return { ...known, [part]: (known[part].slice(0, offset) + text).slice(0, MAX_TEXT) };
}

/** The answer that is still being written after `event`: what a person sends meanwhile, and what actions give, do not end it. */
export function unlessEnded(answer: PartialAnswer | undefined, event: Event): PartialAnswer | undefined {
  if (!answer || event.id < answer.turn) return answer;
  if (isAction(event)) return event.source === 'agent' ? undefined : answer;
  if (!isObservation(event)) return answer;
  const isOver = event.observation === 'agent_state_changed' || (event.observation === 'error' && event.cause === undefined);
  return isOver ? undefined : answer;
}

/** One delta for each part that has begun. */
export function deltasOf(answer: PartialAnswer | undefined): readonly DeltaFrame[] {
  if (!answer) return [];
  const { turn } = answer;
  return (['reasoning', 'text', 'tool'] as const).flatMap((part) =>
    answer[part] === '' ? [] : [{ volatile: 'delta', turn, part, offset: 0, text: answer[part] } as const],
  );
}
