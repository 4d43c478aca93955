import { inject, it, type TestFunction, type TestOptions } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** Of the project that runs: a tenth of what is random or exhaustive, or all of it. */
    effort: 'daily' | 'full';
  }
}

const DAILY_SHARE = 0.1;

/** Whether this run tries everything. The long tests hold every file that asks. */
export const isFull = (): boolean => inject('effort') === 'full';

/**
 * How often something random or exhaustive is tried: `full` times in `npm run test:long`, `daily` times otherwise, by default a tenth of
 * that.
 */
export function runs(full: number, daily = Math.ceil(full * DAILY_SHARE)): number {
  return isFull() ? full : daily;
}

/**
 * What a daily run tries of many: these, or that many of them, evenly spread with the first and the last; by default every eleventh, so
 * that what repeats itself in tens and powers of two is met everywhere. All of it in the long tests.
 */
export function someOf<T>(all: readonly T[], daily?: number | readonly NoInfer<T>[]): readonly T[] {
  if (isFull()) return all;
  if (typeof daily === 'object') return daily;
  if (daily === undefined) return all.filter((_, index) => index % 11 === 0);
  const chosen = new Set(Array.from({ length: daily }, (_, index) => Math.round((index * (all.length - 1)) / Math.max(1, daily - 1))));
  return all.filter((_, index) => chosen.has(index));
}

/** A case that only the long tests try: it costs much, and other tests prove its rules daily. `npm run check` holds the latter. */
export function itInFull(name: string, ...given: readonly [TestFunction] | readonly [TestOptions, TestFunction]): void {
  if (!isFull()) return;
  const [options, body] = given.length === 1 ? [{}, given[0]] : given;
  // oxlint-disable-next-line vitest/expect-expect, vitest/valid-title -- both are the caller's
  it(name, options, body);
}
