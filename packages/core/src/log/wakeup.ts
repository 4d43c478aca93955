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
