/**
 * A store for any framework: `subscribe` and `getSnapshot`, as React's `useSyncExternalStore` wants them.
 *
 * Invariants
 * S1  `getSnapshot` answers the same object until a change is published.
 * S2  Changes are gathered: a burst of frames is one publication, at most one a `delayMs`.
 */
export class SnapshotStore<T> {
  #snapshot: T;
  #build: () => T;
  #listeners = new Set<() => void>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #delayMs: number;

  constructor(build: () => T, delayMs: number) {
    this.#build = build;
    this.#delayMs = delayMs;
    this.#snapshot = build();
  }

  getSnapshot = (): T => this.#snapshot;

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  /** Something changed; published soon. */
  touch(delayMs = this.#delayMs): void {
    this.#timer ??= setTimeout(() => this.publish(), delayMs);
  }

  publish(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#snapshot = this.#build();
    for (const listener of this.#listeners) listener();
  }

  /** Nobody is notified any more. */
  end(): void {
    clearTimeout(this.#timer);
    this.#listeners.clear();
  }

  /** Resolves with the first snapshot, now or later, that `accepts` holds for. Rejects with the signal's reason. */
  when(accepts: (snapshot: T) => boolean, signal: AbortSignal): Promise<T> {
    return new Promise((resolve, reject) => {
      const look = () => {
        if (!accepts(this.#snapshot)) return;
        stop();
        resolve(this.#snapshot);
      };
      const unsubscribe = this.subscribe(look);
      const abort = () => (stop(), reject(signal.reason));
      const stop = () => (unsubscribe(), signal.removeEventListener('abort', abort));
      signal.addEventListener('abort', abort);
      if (signal.aborted) abort();
      else look();
    });
  }
}
