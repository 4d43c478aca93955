import type { Event } from '@tendon/protocol';
import type { Wakeup } from './wakeup.ts';

/** An event, or what is needed to fetch it. */
export type Lazy<T> = T | (() => T | Promise<T>);

/** What following needs of a log. */
export interface Followable {
  /** The durable mark. */
  readonly nextId: number;
  /** Deleted, or its storage closed: nothing more will come. */
  readonly ended: boolean;
  readonly changed: Wakeup;
  /** Some events from `from` on, in order without a gap, at least one; bounded in number and in bytes held. `from` < `nextId`. */
  page(from: number): readonly Lazy<Event>[];
}

/**
 * Every event with id ≥ `from`, once each and in order, stored ones first. It pulls: between two events a slow consumer holds its cursor
 * and the rest of one page. Ends when `signal` aborts or the log has ended.
 */
export async function* follow(log: Followable, from: number, signal: AbortSignal): AsyncGenerator<Event, void, undefined> {
  let cursor = from;
  while (!signal.aborted && !log.ended) {
    if (cursor >= log.nextId) {
      await log.changed.wait(signal);
      continue;
    }
    for (const item of log.page(cursor)) {
      const event = typeof item === 'function' ? await item() : item;
      if (signal.aborted || log.ended) return;
      cursor = event.id + 1;
      yield event;
    }
  }
}
