/** Wakes everybody who waits for a change. A waiter is one function in a set: it costs nothing while nothing happens. */
export class Wakeup {
  readonly #waiters = new Set<() => void>();

  /** Calls everybody who waits, once each. */
  wake(): void {
    const waiters = [...this.#waiters];
    this.#waiters.clear();
    for (const waiter of waiters) waiter();
  }

  /** Resolves at the next `wake`, or when `signal` aborts; never rejects. */
  wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        this.#waiters.delete(done);
        signal.removeEventListener('abort', done);
        resolve();
      };
      if (signal.aborted) return resolve();
      this.#waiters.add(done);
      signal.addEventListener('abort', done);
    });
  }
}
