import { startDeadline, type Clock } from '@tendon/core';
import { aborted } from '@tendon/protocol/async';
import type { Readiness } from '../platform/readiness.ts';

interface DrainParts {
  readonly readiness: Pick<Readiness, 'beginDraining'>;
  readonly clock: Clock;
  /** The most that all of it may take. */
  readonly seconds: number;
  /** Begins nothing by itself any more, and takes nothing from other servers. */
  readonly retire: () => Promise<void>;
  /** Ends or hands over what is at work here; given up when the signal aborts. */
  readonly handOver: (signal: AbortSignal) => Promise<void>;
  /** Ends the connections of clients, whose libraries then connect anew. */
  readonly hangUp: () => void;
}

/**
 * Until load balancers have heard that the server is not ready, clients that connect anew would come back here, to be hung up on again.
 * @internal
 */
export const NOTICED_MS = 2_000;
/** Of the time that there is, at most. */
const NOTICED_SHARE = 0.25;

/**
 * How a server leaves while others go on: it is not ready and begins nothing new, waits until that is known, hands over what it works on, and
 * hangs up, so that clients connect to another one, each once. All callers share one draining; it never rejects, and what is not done in time is left to the end of the process.
 */
export function drainOnce({ readiness, clock, seconds, retire, handOver, hangUp }: DrainParts): () => Promise<void> {
  let draining: Promise<void> | undefined;
  return () => (draining ??= drain());

  async function drain(): Promise<void> {
    readiness.beginDraining();
    using deadline = startDeadline(clock, seconds * 1000);
    const { signal } = deadline;
    const noticed = clock.sleep(Math.min(NOTICED_MS, seconds * 1000 * NOTICED_SHARE), { signal });
    const left = Promise.allSettled([retire(), noticed]).then(() => handOver(signal));
    await Promise.race([left.catch(() => undefined), aborted(signal)]);
    hangUp();
  }
}
