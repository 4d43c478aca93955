import { setImmediate } from 'node:timers/promises';
import type { Clock } from '@tendon/core';

export interface FewOptions {
  readonly atOnce: number;
  /** A task that takes longer continues, but gives its place up. */
  readonly slowMs: number;
  readonly clock: Clock;
  /** No task begins after it aborts. */
  readonly signal: AbortSignal;
}

/**
 * Runs the task for each item, in order, a few at a time, and yields the event loop between two. Resolves when each is done, or slow.
 * Tasks must not reject.
 */
export async function fewAtATime<T>(items: readonly T[], task: (item: T) => Promise<void>, options: FewOptions): Promise<void> {
  const { atOnce, slowMs, clock, signal } = options;
  const left = items.values();
  const worker = async (): Promise<void> => {
    for (const item of left) {
      if (signal.aborted) return;
      const done = new AbortController();
      const slow = clock.sleep(slowMs, { signal: done.signal }).catch(() => undefined);
      await Promise.race([task(item), slow]);
      done.abort();
      await setImmediate();
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
