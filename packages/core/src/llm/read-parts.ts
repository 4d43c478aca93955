/** Reads a stream to its end, or until `signal` aborts: then it throws the reason at once, whatever the source does. */
export async function* readParts<T>(stream: ReadableStream<T>, signal: AbortSignal): AsyncIterable<T> {
  const reader = stream.getReader();
  const aborted = rejectedBy(signal);
  try {
    for (;;) {
      const { done, value } = await Promise.race([reader.read(), aborted.promise]);
      if (done) return;
      yield value;
    }
  } finally {
    aborted.release();
    reader.cancel().catch(() => undefined);
  }
}

/** A promise that rejects with the signal's reason; `release` takes the listener away again. */
export function rejectedBy(signal: AbortSignal): { readonly promise: Promise<never>; release(): void } {
  const { promise, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort, { once: true });
  promise.catch(() => undefined);
  return { promise, release: () => signal.removeEventListener('abort', onAbort) };
}
