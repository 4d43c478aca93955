/** Waits that an abort ends. What was waited for goes on, and how it ends after the abort is ignored. */

/** The promise's outcome; rejects with the signal's reason when the signal aborts first. */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return withAbort<T>(promise, signal, ({ reject }) => reject(signal.reason));
}

/** The promise's outcome; `undefined` when the signal aborts first. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  return withAbort<T | undefined>(promise, signal, ({ resolve }) => resolve(undefined));
}

function withAbort<T>(promise: Promise<T>, signal: AbortSignal, end: (first: PromiseWithResolvers<T>) => void): Promise<T> {
  const first = Promise.withResolvers<T>();
  const onAbort = (): void => end(first);
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  promise.then(first.resolve, first.reject);
  return first.promise.finally(() => signal.removeEventListener('abort', onAbort));
}
