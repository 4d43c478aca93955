/**
 * Owns how many wrong keys each address may still try: a bucket of attempts that refills. It does not own which keys are right.
 *
 * WK1  An address with an empty bucket is answered the same whatever key it presents next, so that guesses cannot be distinguished.
 * WK2  Keys that were accepted from that address before still work: the guesses of a neighbour behind the same proxy lock nobody out.
 * WK3  Memory is bounded, and so are the lines of the log: one a second for each address.
 * WK4  This machine may try as often as it likes; the log is held to WK3 all the same.
 */
import type { Clock } from '@tendon/core';
import { createRateLimit, type RateLimit } from './rate-limit.ts';

/** A person mistypes now and then; a program with an old key asks a few times and gives up. */
const TRIES: RateLimit = { burst: 20, perSecond: 1 / 6 };
const LINES: RateLimit = { burst: 1, perSecond: 1, limitsLoopback: true };
/** The right keys seen from an address, oldest first. */
const MAX_KNOWN = 10_000;

export class WrongKeys {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #tries = createRateLimit(TRIES);
  readonly #lines = createRateLimit(LINES);
  /** Until when an address may try none, in milliseconds. */
  readonly #closed = new Map<string, number>();
  readonly #known = new Set<string>();
  readonly #onWrong: (address: string) => void;

  /** `onWrong` is called for each wrong key. */
  constructor(clock: Pick<Clock, 'now'>, onWrong: (address: string) => void = () => undefined) {
    this.#clock = clock;
    this.#onWrong = onWrong;
  }

  /** Records a wrong key from `address`; returns whether to log it. */
  wrong(address: string): boolean {
    this.#onWrong(address);
    const now = this.#clock.now().getTime();
    const seconds = this.#tries(address, now);
    if (seconds !== undefined) remember(this.#closed, address, now + seconds * 1000);
    return this.#lines(address, now) === undefined;
  }

  /** Seconds until `address` may present a key that was not accepted from it before; `undefined` when it may now. `name` says whose key it presents. */
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
