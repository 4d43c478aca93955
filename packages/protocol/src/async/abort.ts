/** Waits that an abort ends. What was waited for goes on, and how it ends after the abort is ignored. */

/** Resolves when the signal aborts. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => (signal.aborted ? resolve() : signal.addEventListener('abort', () => resolve(), { once: true })));
}

/** The promise's outcome; rejects with the signal's reason when the signal aborts first. */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return withAbort<T>(promise, signal, ({ reject }) => reject(signal.reason));
}

/** The promise's outcome; `undefined` when the signal aborts first. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  return withAbort<T | undefined>(promise, signal, ({ resolve }) => resolve(undefined));
}

/**
 * Runs `work` with a signal that aborts after `ms`, or with `outer`. Nothing is left when the work has ended; a signal of
 * `AbortSignal.timeout` that something listens to stays in memory until its time is over.
 */
export async function withDeadline<T>(ms: number, work: (signal: AbortSignal) => Promise<T>, outer?: AbortSignal): Promise<T> {
  const end = new AbortController();
  const onAbort = (): void => end.abort(outer?.reason);
  if (outer?.aborted) onAbort();
  else outer?.addEventListener('abort', onAbort, { once: true });
  const timer = setTimeout(() => end.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError')), ms);
  try {
    return await work(end.signal);
  } finally {
    clearTimeout(timer);
    outer?.removeEventListener('abort', onAbort);
  }
}

function withAbort<T>(promise: Promise<T>, signal: AbortSignal, end: (first: PromiseWithResolvers<T>) => void): Promise<T> {
  const first = Promise.withResolvers<T>();
  const onAbort = (): void => end(first);
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  promise.then(first.resolve, first.reject);
  return first.promise.finally(() => signal.removeEventListener('abort', onAbort));
}
