/**
 * Owns the pieces that are shown and forgotten: a partial answer, output of running commands.
 *
 * Invariants
 * VB1  Nothing here outlives the event that replaces it, or the connection it came over.
 * VB2  At most `MAX_TEXT` characters of an output: its end.
 */
import { unlessEnded, withDelta, type DeltaFrame, type Event, type OutputFrame, type PartialAnswer } from '@tendon/protocol';

const MAX_TEXT = 262_144;

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

  addDelta(delta: DeltaFrame): void {
    this.#answer = withDelta(this.#answer, delta);
  }

  addOutput({ cause, offset, text }: OutputFrame): void {
    // What was shown before the connection broke is sent once more.
    if (offset < (this.#nextOffsets.get(cause) ?? 0)) return;
    this.#nextOffsets.set(cause, offset + 1);
    this.#outputs.set(cause, ((this.#outputs.get(cause) ?? '') + text).slice(-MAX_TEXT));
  }

  settle(event: Event): void {
    this.#answer = unlessEnded(this.#answer, event);
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
