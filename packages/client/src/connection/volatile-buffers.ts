/**
 * Owns the pieces that are shown and forgotten: a partial answer, output of running commands.
 *
 * Invariants
 * V1  Nothing here outlives the event that replaces it, or the connection it came over.
 * V2  At most `MAX_TEXT` characters a text: the beginning of an answer, the end of an output.
 */
import type { DeltaFrame, Event, OutputFrame } from '@tendon/protocol';

const MAX_TEXT = 262_144;

export interface PartialAnswer {
  /** The id that the first event of the answer will have. */
  readonly turn: number;
  readonly text: string;
  readonly reasoning: string;
  readonly tool: string;
}

export class VolatileBuffers {
  #answer: PartialAnswer | undefined;
  #outputs = new Map<number, string>();
  /** By cause: frames with a lower offset are known. */
  #nextOffsets = new Map<number, number>();

  get answer(): PartialAnswer | undefined {
    return this.#answer;
  }

  /** Output so far by the id of the running action; a copy. */
  outputs(): ReadonlyMap<number, string> {
    return new Map(this.#outputs);
  }

  addDelta({ turn, part, offset, text }: DeltaFrame): void {
    if (this.#answer && turn < this.#answer.turn) return;
    const answer = this.#answer?.turn === turn ? this.#answer : { turn, text: '', reasoning: '', tool: '' };
    // An offset before the end means the provider started over; one beyond it, that we joined late.
    const joined = answer[part].slice(0, offset) + text;
    this.#answer = { ...answer, [part]: joined.slice(0, MAX_TEXT) };
  }

  addOutput({ cause, offset, text }: OutputFrame): void {
    // What was shown before the connection broke is sent once more.
    if (offset < (this.#nextOffsets.get(cause) ?? 0)) return;
    this.#nextOffsets.set(cause, offset + 1);
    this.#outputs.set(cause, ((this.#outputs.get(cause) ?? '') + text).slice(-MAX_TEXT));
  }

  settle(event: Event): void {
    if (this.#answer && event.id >= this.#answer.turn) this.#answer = undefined;
    if ('observation' in event && event.cause !== undefined) this.#forget(event.cause);
  }

  clear(): void {
    this.#answer = undefined;
    this.#outputs.clear();
    this.#nextOffsets.clear();
  }

  #forget(cause: number): void {
    this.#outputs.delete(cause);
    this.#nextOffsets.delete(cause);
  }
}
