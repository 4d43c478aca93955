import { KeyedSemaphore } from '@tendon/core';

/** Lets at most `limit` tasks run at a time, the others wait in order; one whose signal aborts leaves the queue. */
export function admission(limit: number): <T>(task: () => Promise<T>, signal: AbortSignal) => Promise<T> {
  const places = new KeyedSemaphore(limit);
  return async (task, signal) => {
    const leave = places.tryAcquire('start') ?? (await places.acquire('start', signal));
    try {
      signal.throwIfAborted();
      return await task();
    } finally {
      leave?.();
    }
  };
}
