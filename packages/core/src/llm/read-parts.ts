import { abortable } from '../async/abort.ts';

/** Reads a stream to its end, or until `signal` aborts: then it throws the reason at once, whatever the source does. */
export async function* readParts<T>(stream: ReadableStream<T>, signal: AbortSignal): AsyncIterable<T> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await abortable(reader.read(), signal);
      if (done) return;
      yield value;
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}
