import { Mutex } from '@tendon/protocol/async';

/**
 * Owns a number of places for each key. It does not own the work that is done in one.
 *
 * Invariants
 * K1  At most `limit` places of a key are taken; waiting callers get theirs in order of arrival, and none overtakes.
 * K2  An abort ends a wait at once, and takes no place.
 * K3  A key without holders and waiting callers takes no memory.
 */
interface Places {
  taken: number;
  /** In order of arrival. */
  readonly waiting: Set<() => void>;
}

/** Gives the place back; calling it again does nothing. */
export type Release = () => void;

export class KeyedSemaphore {
  readonly limit: number;
  readonly #keys = new Map<string, Places>();

  constructor(limit: number) {
    this.limit = limit;
  }

  /** How many wait for a place of this key. */
  waiting(key: string): number {
    return this.#keys.get(key)?.waiting.size ?? 0;
  }

  /** Over all keys. */
  totals(): { readonly taken: number; readonly waiting: number } {
    let [taken, waiting] = [0, 0];
    for (const places of this.#keys.values()) {
      taken += places.taken;
      waiting += places.waiting.size;
    }
    return { taken, waiting };
  }

  /** A place that is free now; `undefined` when there is none, or others wait. */
  tryAcquire(key: string): Release | undefined {
    const places = this.#keys.get(key) ?? { taken: 0, waiting: new Set() };
    if (places.taken >= this.limit || places.waiting.size > 0) return undefined;
    this.#keys.set(key, places);
    places.taken += 1;
    return this.#release(key, places);
  }

  /** A place, as soon as it is this caller's turn; `undefined` when the signal aborted first. */
  async acquire(key: string, signal: AbortSignal): Promise<Release | undefined> {
    if (signal.aborted) return undefined;
    const free = this.tryAcquire(key);
    if (free) return free;
    const places = this.#keys.get(key)!;
    const { promise, resolve } = Promise.withResolvers<Release | undefined>();
    // The place passes directly to the next caller: it is never free, so nobody can overtake.
    const enter = (): void => resolve(this.#release(key, places));
    const leave = (): void => {
      if (places.waiting.delete(enter)) resolve(undefined);
    };
    places.waiting.add(enter);
    signal.addEventListener('abort', leave, { once: true });
    return promise.finally(() => signal.removeEventListener('abort', leave));
  }

  #release(key: string, places: Places): Release {
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      const [next] = places.waiting;
      if (next) {
        places.waiting.delete(next);
        next();
        return;
      }
      places.taken -= 1;
      if (places.taken === 0) this.#keys.delete(key);
    };
  }
}

/** A mutex for each key: tasks of one key run one after the other, in the order given. A key without tasks takes no memory. */
export class KeyedMutex {
  readonly #keys = new Map<string, { readonly mutex: Mutex; tasks: number }>();

  run<T>(key: string, task: () => Promise<T> | T): Promise<T> {
    const entry = this.#keys.get(key) ?? { mutex: new Mutex(), tasks: 0 };
    this.#keys.set(key, entry);
    entry.tasks += 1;
    return entry.mutex.run(task).finally(() => {
      if (--entry.tasks === 0) this.#keys.delete(key);
    });
  }
}
