/** A wait that took too long or was called off. */
class TooLate extends Error {}

/** The promise's outcome, or a rejection with `TooLate` after so long or when the signal fires. What it waited for goes on. */
export async function within<T>(ms: number, promise: Promise<T>, signal?: AbortSignal): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new TooLate(`no answer within ${ms / 1000} seconds`)), ms);
  const onAbort = (): void => late.reject(new TooLate('it was cancelled'));
  signal?.addEventListener('abort', onAbort, { once: true });
  if (signal?.aborted) onAbort();
  promise.catch(() => {}); // when it comes too late, nobody looks
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}
