import { setImmediate } from 'node:timers/promises';
import type { Clock } from '@tendon/core';

export interface FewOptions {
  readonly atOnce: number;
  /** A task that takes longer goes on, but no longer counts as one of them. */
  readonly slowMs: number;
  readonly clock: Clock;
  /** Nothing is begun after it aborted. */
  readonly signal: AbortSignal;
}

/**
 * Does the task for each item, in order, a few at a time; the event loop gets its turn between two. Resolves when each is done, or slow.
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
