import type { Event } from '@tendon/protocol';
import type { EventLog } from './event-log.ts';

/** The most events in memory at once, however long the log is. */
const PAGE = 100;
/** Ids at most this far apart are read in one page with the events between them. */
const NEAR = 8;

/** The events from `from` up to the durable mark, in order. */
export async function* readPages(log: EventLog, from: number): AsyncGenerator<readonly Event[], void, undefined> {
  for (let next = from; next < log.nextId; next += PAGE) {
    yield await log.read({ from: next, limit: PAGE });
  }
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
