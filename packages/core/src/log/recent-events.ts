import type { Event } from '@tendon/protocol';

const MAX_EVENTS = 128;
const MAX_CHARACTERS = 256 * 1024;

/** The newest events of one log, so that live followers do not read the disk: contiguous, ending at the durable mark, bounded. */
export class RecentEvents {
  readonly #events: Event[] = [];
  readonly #sizes: number[] = [];
  #total = 0;

  /** `size`: characters of its JSON with payloads. An event too large for the window empties it, for the window has no gaps. */
  push(event: Event, size: number): void {
    this.#events.push(event);
    this.#sizes.push(size);
    this.#total += size;
    while (this.#events.length > MAX_EVENTS || this.#total > MAX_CHARACTERS) {
      this.#events.shift();
      this.#total -= this.#sizes.shift()!;
    }
  }

  /** The id of the first event in the window; `Infinity` when it is empty. */
  get firstId(): number {
    return this.#events[0]?.id ?? Infinity;
  }

  /** Events with ids in [from, to), ascending; `from` ≥ `firstId`. */
  slice(from: number, to: number): readonly Event[] {
    return this.#events.slice(from - this.firstId, to - this.firstId);
  }
}
