import { Mutex } from '@tendon/protocol/async';

/**
 * Owns a number of places for each key. It does not own the work that is done in one.
 *
 * Invariants
 * KS1  At most `limit` places of a key are taken. Waiting parties take turns, and callers of one party get theirs in order of arrival: however
 *      many of one party wait, another one waits for at most one of them.
 * KS2  An abort ends a wait at once, and takes no place.
 * KS3  A key without holders and waiting callers takes no memory.
 */
interface Places {
  taken: number;
  /** Of each party that waits, in order of arrival. The parties are in the order of their turns. */
  readonly waiting: Map<string, Set<() => void>>;
}

/** Gives the place back; calling it again does nothing. */
export type Release = () => void;

export class KeyedSemaphore {
  readonly limit: number;
  readonly #keys = new Map<string, Places>();

  constructor(limit: number) {
    this.limit = limit;
  }

  /** How many get a place of this key before one of this party that comes now. */
  ahead(key: string, party = ''): number {
    const waiting = this.#keys.get(key)?.waiting ?? new Map<string, Set<() => void>>();
    const own = waiting.get(party)?.size ?? 0;
    let [ahead, isBefore] = [own, true];
    for (const [name, { size }] of waiting) {
      if (name === party) isBefore = false;
      else ahead += Math.min(size, own + Number(isBefore));
    }
    return ahead;
  }

  /**
   * How many of this party wait for a place of this key.
   * @internal
   */
  waiting(key: string, party = ''): number {
    return this.#keys.get(key)?.waiting.get(party)?.size ?? 0;
  }

  /** Over all keys. */
  totals(): { readonly taken: number; readonly waiting: number } {
    let [taken, waiting] = [0, 0];
    for (const places of this.#keys.values()) {
      taken += places.taken;
      for (const { size } of places.waiting.values()) waiting += size;
    }
    return { taken, waiting };
  }

  /** A place that is free now; `undefined` when there is none, or others wait. */
  tryAcquire(key: string): Release | undefined {
    const places = this.#keys.get(key) ?? { taken: 0, waiting: new Map() };
    if (places.taken >= this.limit || places.waiting.size > 0) return undefined;
    this.#keys.set(key, places);
    places.taken += 1;
    return this.#release(key, places);
  }

  /** A place, as soon as it is this caller's turn; `undefined` when the signal aborted first. */
  async acquire(key: string, signal: AbortSignal, party = ''): Promise<Release | undefined> {
    if (signal.aborted) return undefined;
    const free = this.tryAcquire(key);
    if (free) return free;
    const places = this.#keys.get(key)!;
    const { promise, resolve } = Promise.withResolvers<Release | undefined>();
    // The place passes directly to the next caller: it is never free, so nobody can overtake.
    const enter = (): void => resolve(this.#release(key, places));
    const leave = (): void => {
      if (remove(places, party, enter)) resolve(undefined);
    };
    const own = places.waiting.get(party) ?? new Set();
    places.waiting.set(party, own.add(enter));
    signal.addEventListener('abort', leave, { once: true });
    return promise.finally(() => signal.removeEventListener('abort', leave));
  }

  #release(key: string, places: Places): Release {
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      const next = takeNext(places);
      if (next) return next();
      places.taken -= 1;
      if (places.taken === 0) this.#keys.delete(key);
    };
  }
}

/** The first caller of the party whose turn it is; that party then comes last. */
function takeNext({ waiting }: Places): (() => void) | undefined {
  const [turn] = waiting;
  if (!turn) return undefined;
  const [party, own] = turn;
  const [next] = own;
  own.delete(next!);
  waiting.delete(party);
  if (own.size > 0) waiting.set(party, own);
  return next;
}

function remove({ waiting }: Places, party: string, enter: () => void): boolean {
  const own = waiting.get(party);
  const isRemoved = own?.delete(enter) ?? false;
  if (own?.size === 0) waiting.delete(party);
  return isRemoved;
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
