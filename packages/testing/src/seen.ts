import { lastOf, waitFor } from './wait-for.ts';

interface Waiter<T> {
  readonly fits: (one: T) => boolean;
  readonly resolve: (one: T) => void;
}

/** Everything that came, in order. Owns nothing but those who wait for more. */
export class Seen<T> {
  readonly all: T[] = [];
  readonly #waiting = new Set<Waiter<T>>();

  take(one: T): void {
    this.all.push(one);
    for (const waiter of this.#waiting) {
      if (!waiter.fits(one)) continue;
      this.#waiting.delete(waiter);
      waiter.resolve(one);
    }
  }

  /** The first one that fits, already seen ones included. */
  async until(fits: (one: T) => boolean, what = String(fits)): Promise<T> {
    const seen = this.all.find(fits);
    if (seen !== undefined) return seen;
    const { promise, resolve } = Promise.withResolvers<T>();
    this.#waiting.add({ fits, resolve });
    return waitFor(promise, () => `${what}; ${lastOf(this.all)}`);
  }
}
