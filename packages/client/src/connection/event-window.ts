/**
 * Owns a client's copy of one conversation's events and their fold; knows nothing of sockets.
 *
 * Invariants
 * EW1  `events` is sorted by id and holds each id once. The first copy wins: a replayed and a live copy differ only in `source`.
 * EW2  `state` is the fold of the log: of `events` in that order, whatever the order of arrival, or, where the server left out older ones,
 *      of what it reports of them and the events after that. (A server sends the last state change after everything else.)
 * EW3  Ids need not be consecutive: some kinds are never sent.
 * EW4  `cursor` is an id up to which nothing that the server will ever send is missing, but for `gaps`.
 * EW5  `gaps` are sorted and do not touch; no event is held in one.
 */
import type { Event } from '@tendon/protocol';
import { INITIAL_STATE, reduce, type ConversationState } from '@tendon/protocol/reduce';

/** Events from `from` below `to` that the server has and that are not held here. */
export interface Gap {
  readonly from: number;
  readonly to: number;
}

export class EventWindow {
  #events: Event[] = [];
  #copy: readonly Event[] | undefined;
  #gaps: readonly Gap[] = [];
  /** The fold of everything below its `nextId`. */
  #base: ConversationState = INITIAL_STATE;
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
  get gaps(): readonly Gap[] {
    return this.#gaps;
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

  /** The server leaves out what is in the gap; `base` is the fold of the log below `base.nextId`, gap included. */
  leaveOut(gap: Gap, base: ConversationState): void {
    // What a broken replay brought of it: the rest of it would not come.
    this.#drop(gap);
    this.#base = base;
    this.#fold();
  }

  /** Everything in the range that the server sends. */
  load(range: Gap, events: readonly Event[]): void {
    const held = events.filter(({ id }) => id >= range.from && id < range.to).concat(this.#events);
    this.#events = [...new Map(held.map((event) => [event.id, event])).values()].toSorted((a, b) => a.id - b.id);
    this.#copy = undefined;
    this.#gaps = this.#gaps.flatMap((gap) => without(gap, range));
  }

  /** Forgets the oldest events, all below `id`. */
  forget(id: number): void {
    const first = this.#events[0]?.id ?? id;
    // The fold of what is forgotten must not be needed again.
    if (first >= id || this.#state.nextId < id) return;
    this.#base = this.#state;
    this.#drop({ from: Math.min(first, this.#gaps[0]?.from ?? first), to: id });
  }

  /** Whether the event was new. */
  add(event: Event): boolean {
    const added = this.#insert(event);
    // The last state change is sent after the rest of a replay; from then on frames come in order.
    this.#replayed ||= 'observation' in event && event.observation === 'agent_state_changed';
    if (this.#replayed) this.#cursor = Math.max(this.#cursor, this.#events.at(-1)?.id ?? -1);
    return added;
  }

  #insert(event: Event): boolean {
    const last = this.#events.at(-1);
    if (!last || last.id < event.id) {
      this.#events.push(event);
      this.#copy = undefined;
      if (event.id >= this.#base.nextId) this.#state = reduce(this.#state, event);
      return true;
    }
    const at = this.#indexOf(event.id);
    if (this.#events[at]!.id === event.id) return false;
    this.#events.splice(at, 0, event);
    this.#copy = undefined;
    if (event.id >= this.#base.nextId) this.#fold();
    return true;
  }

  #fold(): void {
    this.#state = this.#events.reduce((state, event) => (event.id < this.#base.nextId ? state : reduce(state, event)), this.#base);
  }

  #drop(gap: Gap): void {
    if (gap.from >= gap.to) return;
    this.#events = this.#events.filter(({ id }) => id < gap.from || id >= gap.to);
    this.#copy = undefined;
    const others = this.#gaps.filter((other) => other.to < gap.from || other.from > gap.to);
    const joined = this.#gaps.filter((other) => !others.includes(other));
    const from = Math.min(gap.from, ...joined.map((other) => other.from));
    const to = Math.max(gap.to, ...joined.map((other) => other.to));
    this.#gaps = [...others, { from, to }].toSorted((a, b) => a.from - b.from);
  }

  /** Of the first event with this id or a higher one. */
  #indexOf(id: number): number {
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

/** What is left of the gap. */
function without(gap: Gap, range: Gap): readonly Gap[] {
  if (range.to <= gap.from || range.from >= gap.to) return [gap];
  return [
    { from: gap.from, to: range.from },
    { from: range.to, to: gap.to },
  ].filter(({ from, to }) => from < to);
}
