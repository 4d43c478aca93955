import { once } from 'node:events';
import type { Duplex } from 'node:stream';

export interface FrontBounds {
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  /** What was read of it already. */
  readonly first?: Buffer;
}

export type Front<T> =
  | { readonly kind: 'found'; readonly found: T; readonly bytes: Buffer }
  | { readonly kind: 'too long' }
  | { readonly kind: 'closed' };

/**
 * Reads off the beginning of a stream until `look` finds something in all of it so far. Rejects when the signal aborts. By
 * `readable`: afterwards the stream neither flows nor stands paused, so the next reader loses nothing and waits for nothing.
 */
export async function readFront<T>(stream: Duplex, bounds: FrontBounds, look: (bytes: Buffer) => T | undefined): Promise<Front<T>> {
  let bytes = bounds.first ?? Buffer.alloc(0);
  for (;;) {
    for (let chunk = stream.read() as Buffer | null; chunk !== null; chunk = stream.read() as Buffer | null) {
      bytes = Buffer.concat([bytes, chunk]);
    }
    const found = look(bytes);
    if (found !== undefined) return { kind: 'found', found, bytes };
    if (bytes.length >= bounds.maxBytes) return { kind: 'too long' };
    if (stream.readableEnded || stream.destroyed) return { kind: 'closed' };
    await more(stream, bounds.signal);
  }
}

async function more(stream: Duplex, signal: AbortSignal): Promise<void> {
  const heard = new AbortController();
  const until = { signal: AbortSignal.any([signal, heard.signal]) };
  const events = ['readable', 'end', 'close'].map((name) => once(stream, name, until));
  try {
    await Promise.race(events);
  } finally {
    heard.abort();
    await Promise.allSettled(events);
  }
}
