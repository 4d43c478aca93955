import type { Clock } from '../../async/clock.ts';

/** Time that moves only on demand: pauses end in `advance`. */
export interface TestClock extends Clock {
  /** Milliseconds of every pause that was begun. */
  readonly pauses: readonly number[];
  advance(ms: number): void;
  /** Resolves when somebody waits. */
  waiting(): Promise<void>;
}

export function createTestClock(start = '2026-01-01T00:00:00.000Z'): TestClock {
  let now = Date.parse(start);
  const pauses: number[] = [];
  const sleepers = new Set<{ readonly at: number; wake(): void }>();
  let watchers: (() => void)[] = [];
  return {
    pauses,
    now: () => new Date(now),
    sleep(ms, { signal }) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      if (signal.aborted) reject(signal.reason);
      const sleeper = { at: now + ms, wake: resolve };
      pauses.push(ms);
      sleepers.add(sleeper);
      signal.addEventListener('abort', () => {
        sleepers.delete(sleeper);
        reject(signal.reason);
      });
      for (const notify of watchers.splice(0)) notify();
      return promise;
    },
    advance(ms) {
      now += ms;
      for (const sleeper of sleepers) {
        if (sleeper.at > now) continue;
        sleepers.delete(sleeper);
        sleeper.wake();
      }
    },
    waiting() {
      if (sleepers.size > 0) return Promise.resolve();
      return new Promise((resolve) => (watchers = [...watchers, resolve]));
    },
  };
}

/** A clock whose pauses end at once, moving time on. */
export function createFastClock(start?: string): TestClock {
  const clock = createTestClock(start);
  const sleep: Clock['sleep'] = (ms, options) => {
    const promise = clock.sleep(ms, options);
    queueMicrotask(() => clock.advance(ms));
    return promise;
  };
  return { ...clock, sleep };
}
