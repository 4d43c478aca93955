/** A client with more than this under way does not read, and would not read a goodbye either: it is cut off. */
const MAX_FOR_GOODBYE_BYTES = 64 * 1024;

/** Counts what was handed over and not yet taken by the operating system, and wakes those who wait for it to go down. */
export class Unsent {
  #bytes = 0;
  #waiting: { readonly below: number; readonly wake: () => void }[] = [];
  readonly #closed: AbortSignal;

  constructor(closed: AbortSignal) {
    this.#closed = closed;
    closed.addEventListener('abort', () => {
      // Nobody will take the rest: everyone who waits goes on.
      this.#bytes = 0;
      this.#wake();
    });
  }

  get bytes(): number {
    return this.#bytes;
  }

  get isTooMuchForGoodbye(): boolean {
    return this.#bytes > MAX_FOR_GOODBYE_BYTES;
  }

  add(bytes: number): void {
    if (this.#closed.aborted) return;
    this.#bytes += bytes;
    if (bytes < 0) this.#wake();
  }

  /** Resolves when at most so many are left, or the wire is closed. */
  drained(below: number): Promise<void> {
    if (this.#bytes <= below) return Promise.resolve();
    return new Promise((wake) => this.#waiting.push({ below, wake }));
  }

  #wake(): void {
    const ready = this.#waiting.filter((waiter) => this.#bytes <= waiter.below);
    this.#waiting = this.#waiting.filter((waiter) => this.#bytes > waiter.below);
    for (const waiter of ready) waiter.wake();
  }
}
