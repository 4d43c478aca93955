import { startDeadline, type Clock } from '@tendon/core';
import type { Readiness } from '../platform/readiness.ts';

interface DrainParts {
  readonly readiness: Readiness;
  readonly clock: Clock;
  /** The most that all of it may take. */
  readonly seconds: number;
  /** Ends or hands over what is at work here; given up when the signal aborts. */
  readonly handOver: (signal: AbortSignal) => Promise<void>;
  /** Hangs up on the clients of each, whose libraries then connect anew. */
  readonly sockets: () => readonly { hangUp(): void }[];
}

/** Until load balancers have heard that the server is not ready, clients that connect anew would come back here. */
const NOTICED_MS = 2_000;

/**
 * How a server leaves while others go on: it is not ready and begins nothing new, hands over what it works on, then hangs up, so that clients
 * connect to another one. All callers share one draining; it never rejects, and what is not done in time is left to the end of the process.
 */
export function drainOnce({ readiness, clock, seconds, handOver, sockets }: DrainParts): () => Promise<void> {
  let draining: Promise<void> | undefined;
  return () => (draining ??= drain());

  async function drain(): Promise<void> {
    readiness.beginDraining();
    using deadline = startDeadline(clock, seconds * 1000);
    const { signal } = deadline;
    const over = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    const noticed = clock.sleep(NOTICED_MS, { signal }).catch(() => undefined);
    await Promise.race([Promise.allSettled([handOver(signal), noticed]), over]);
    for (const each of sockets()) each.hangUp();
  }
}
