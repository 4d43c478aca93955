import type { Event } from '@tendon/protocol';
import type { EventLog, ReadRange } from './event-log.ts';

/** The most events in memory at once, however long the log is. */
const PAGE = 100;
/** Ids at most this far apart are read in one page with the events between them. */
const NEAR = 8;

/** The events from `from` up to the durable mark, or before `to`, in order. */
export async function* readPages(log: EventLog, from: number, to = Infinity): AsyncGenerator<readonly Event[], void, undefined> {
  for (let next = from; next < Math.min(to, log.nextId); next += PAGE) {
    yield await log.read({ from: next, to: Math.min(to, log.nextId, next + PAGE) });
  }
}

/** The same, one event at a time. */
export async function* loggedEvents(
  log: EventLog,
  { from = 0, to = Infinity }: Pick<ReadRange, 'from' | 'to'> = {},
): AsyncGenerator<Event, void, undefined> {
  for await (const page of readPages(log, from, to)) yield* page;
}

/** The events with these ids, as far as the log has them. */
export async function readById(log: EventLog, ids: readonly number[]): Promise<ReadonlyMap<number, Event>> {
  const wanted = new Set(ids);
  const found = new Map<number, Event>();
  const sorted = [...wanted].toSorted((a, b) => a - b);
  for (let first = 0; first < sorted.length;) {
    let last = first;
    while (last + 1 < sorted.length && sorted[last + 1]! - sorted[last]! <= NEAR && sorted[last + 1]! - sorted[first]! < PAGE) last += 1;
    for (const event of await log.read({ from: sorted[first]!, to: sorted[last]! + 1 }))
      if (wanted.has(event.id)) found.set(event.id, event);
    first = last + 1;
  }
  return found;
}

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

/** The id of the event to which a client gave this id. */
export async function loggedIdOf(log: EventLog, clientId: string): Promise<number | undefined> {
  for await (const event of loggedEvents(log)) if (event.client_id === clientId) return event.id;
  return undefined;
}
