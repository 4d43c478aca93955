/**
 * Owns a client's copy of one conversation's events and their fold; knows nothing of sockets.
 *
 * Invariants
 * EW1  `events` is sorted by id and holds each id once. The first copy wins: a replayed and a live copy differ only in `source`.
 * EW2  `state` is the fold of `events` in that order, whatever the order of arrival. (A server sends the last state change after everything else.)
 * EW3  Ids need not be consecutive: some kinds are never sent.
 * EW4  `cursor` is an id up to which nothing that the server will ever send is missing.
 */
import type { Event } from '@tendon/protocol';
import { INITIAL_STATE, reduce, type ConversationState } from '@tendon/protocol/reduce';

export class EventWindow {
  #events: Event[] = [];
  #copy: readonly Event[] | undefined;
  #ids = new Set<number>();
  #state: ConversationState = INITIAL_STATE;
  #cursor: number;
  #replayed = false;

  constructor(cursor = -1) {
    this.#cursor = cursor;
  }

  /** Frozen in time: the same array until an event is added. */
  snapshot(): readonly Event[] {
    return (this.#copy ??= [...this.#events]);
  }
  get state(): ConversationState {
    return this.#state;
  }
  get cursor(): number {
    return this.#cursor;
  }

  /** A connection began. Until it is known to have caught up, the cursor stays where it was. */
  beginReplay(): void {
    this.#replayed = false;
  }

  /** The server reports that it has sent every event below `nextId` that it will ever send. */
  endReplay(nextId: number): void {
    this.#replayed = true;
    this.#cursor = Math.max(this.#cursor, nextId - 1, this.#events.at(-1)?.id ?? -1);
  }

  /** Whether the event was new. */
  add(event: Event): boolean {
    const added = !this.#ids.has(event.id) && this.#insert(event);
    // The last state change is sent after the rest of a replay; from then on frames come in order.
    this.#replayed ||= 'observation' in event && event.observation === 'agent_state_changed';
    if (this.#replayed) this.#cursor = Math.max(this.#cursor, this.#events.at(-1)?.id ?? -1);
    return added;
  }

  #insert(event: Event): boolean {
    this.#ids.add(event.id);
    this.#copy = undefined;
    const last = this.#events.at(-1);
    if (!last || last.id < event.id) {
      this.#events.push(event);
      this.#state = reduce(this.#state, event);
      return true;
    }
    this.#events.splice(this.#indexAfter(event.id), 0, event);
    this.#state = this.#events.reduce(reduce, INITIAL_STATE);
    return true;
  }

  #indexAfter(id: number): number {
    let low = 0;
    let high = this.#events.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#events[middle]!.id < id) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
