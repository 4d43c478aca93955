import type { Clock } from '../../async/clock.ts';

/** Time that moves only when told: sleeps end in `advance`. */
export interface TestClock extends Clock {
  /** Milliseconds of every sleep that was begun. */
  readonly slept: readonly number[];
  advance(ms: number): void;
  /** Resolves when somebody sleeps. */
  asleep(): Promise<void>;
}

export function createTestClock(start = '2026-01-01T00:00:00.000Z'): TestClock {
  let now = Date.parse(start);
  const slept: number[] = [];
  const sleepers = new Set<{ readonly at: number; wake(): void }>();
  let watchers: (() => void)[] = [];
  return {
    slept,
    now: () => new Date(now),
    sleep(ms, { signal }) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      if (signal.aborted) reject(signal.reason);
      const sleeper = { at: now + ms, wake: resolve };
      slept.push(ms);
      sleepers.add(sleeper);
      signal.addEventListener('abort', () => {
        sleepers.delete(sleeper);
        reject(signal.reason);
      });
      for (const tell of watchers.splice(0)) tell();
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
    asleep() {
      if (sleepers.size > 0) return Promise.resolve();
      return new Promise((resolve) => (watchers = [...watchers, resolve]));
    },
  };
}

/** A clock whose sleeps end at once, moving time on. */
export function createFastClock(start?: string): TestClock {
  const clock = createTestClock(start);
  const sleep: Clock['sleep'] = (ms, options) => {
    const promise = clock.sleep(ms, options);
    queueMicrotask(() => clock.advance(ms));
    return promise;
  };
  return { ...clock, sleep };
}
