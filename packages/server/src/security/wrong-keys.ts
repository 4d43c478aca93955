/**
 * Owns how many wrong keys each address may still try: a bucket of tries that fills again. It does not own who has a right one.
 *
 * W1  An address whose bucket is empty is answered the same whatever key it shows next, so that no guess can be told from another.
 * W2  Who was let in from that address before goes on: guesses of a neighbour behind the same proxy lock nobody out.
 * W3  Memory is bounded, and so are the lines of the log: one a second for each address.
 * W4  This machine is not limited.
 */
import type { Clock } from '@tendon/core';
import { createRateLimit, type RateLimit } from '../http/rate-limit.ts';

/** A person mistypes now and then; a program with an old key asks a few times and gives up. */
const TRIES: RateLimit = { burst: 20, perSecond: 1 / 6 };
const LINES: RateLimit = { burst: 1, perSecond: 1 };
/** The right keys seen from an address, oldest first. */
const MAX_KNOWN = 10_000;

export class WrongKeys {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #tries = createRateLimit(TRIES);
  readonly #lines = createRateLimit(LINES);
  /** Until when an address may try none, in milliseconds. */
  readonly #closed = new Map<string, number>();
  readonly #known = new Set<string>();

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** A key that opens nothing came from `address`; whether that is worth a line of the log. */
  wrong(address: string): boolean {
    const now = this.#clock.now().getTime();
    const seconds = this.#tries(address, now);
    if (seconds !== undefined) remember(this.#closed, address, now + seconds * 1000);
    return this.#lines(address, now) === undefined;
  }

  /** Seconds until `address` may show a key that it was not let in with before; `undefined` when it may now. `name` says whose key it shows. */
  secondsToWait(address: string, name: string | undefined): number | undefined {
    const left = (this.#closed.get(address) ?? 0) - this.#clock.now().getTime();
    if (left > 0) return name !== undefined && this.#known.has(`${address} ${name}`) ? undefined : Math.ceil(left / 1000);
    if (name !== undefined) this.#let(`${address} ${name}`);
    return undefined;
  }

  #let(holder: string): void {
    this.#known.delete(holder);
    this.#known.add(holder);
    if (this.#known.size > MAX_KNOWN) this.#known.delete(this.#known.values().next().value!);
  }
}

function remember(closed: Map<string, number>, address: string, until: number): void {
  closed.delete(address);
  closed.set(address, until);
  if (closed.size > MAX_KNOWN) closed.delete(closed.keys().next().value!);
}
