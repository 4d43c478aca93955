/**
 * A store for any framework: `subscribe` and `getSnapshot`, as React's `useSyncExternalStore` wants them.
 *
 * Invariants
 * SN1  `getSnapshot` answers the same object until a change is published.
 * SN2  Changes are gathered: a burst of frames is one publication, at most one a `delayMs`, and of changes that nobody waits for one a `paceMs`.
 * SN3  Where drawing them takes long they are gathered for longer: a view that cannot keep up has most of the time for what a person does.
 */
/** The most that changes are gathered for, and how many times as long as drawing them. */
const MOST_MS = 200;
const SHARE = 3;

export class SnapshotStore<T> {
  #snapshot: T;
  #build: () => T;
  #listeners = new Set<() => void>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** When the timer publishes, and when was published last. */
  #due = 0;
  #publishedAt = Number.NEGATIVE_INFINITY;
  #delayMs: number;
  /** How long the last publication took, with what its listeners did at once. */
  #tookMs = 0;

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

  /** Something changed; published soon, but not within `paceMs` of the publication before unless for another change. */
  touch({ delayMs = this.#delayMs, paceMs = 0 }: { readonly delayMs?: number; readonly paceMs?: number } = {}): void {
    const now = performance.now();
    const due = Math.max(now + Math.max(delayMs, Math.min(MOST_MS, SHARE * this.#tookMs)), this.#publishedAt + paceMs);
    if (this.#timer !== undefined && this.#due <= due) return;
    clearTimeout(this.#timer);
    this.#due = due;
    this.#timer = setTimeout(() => this.publish(), due - now);
  }

  publish(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#snapshot = this.#build();
    const began = performance.now();
    this.#publishedAt = began;
    for (const listener of this.#listeners) listener();
    // After what they put off to the end of this task, as views do.
    queueMicrotask(() => queueMicrotask(() => (this.#tookMs = performance.now() - began)));
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
