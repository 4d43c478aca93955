import type { Event } from '@tendon/protocol';

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
  page(from: number): readonly Lazy<Event>[] | Promise<readonly Lazy<Event>[]>;
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
    const page = log.page(cursor);
    for (const item of page instanceof Promise ? await page : page) {
      const event = typeof item === 'function' ? await item() : item;
      if (signal.aborted || log.ended) return;
      cursor = event.id + 1;
      yield event;
    }
  }
}

/**
 * Wakes everybody who waits for a change. A waiter is one function in a set: it costs nothing while nothing happens.
 * While somebody waits the wakeup is in `waitedFor`: who only waits is held by nothing else, and would be collected with what it waits for.
 */
export class Wakeup {
  readonly #waiters = new Set<() => void>();
  readonly #waitedFor: Set<Wakeup>;

  constructor(waitedFor = new Set<Wakeup>()) {
    this.#waitedFor = waitedFor;
  }

  /** Calls everybody who waits, once each. */
  wake(): void {
    for (const waiter of [...this.#waiters]) waiter();
  }

  /** Resolves at the next `wake`, or when `signal` aborts; never rejects. */
  wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const done = (): void => {
        this.#waiters.delete(done);
        if (this.#waiters.size === 0) this.#waitedFor.delete(this);
        signal.removeEventListener('abort', done);
        resolve();
      };
      this.#waiters.add(done);
      this.#waitedFor.add(this);
      signal.addEventListener('abort', done);
    });
  }
}
