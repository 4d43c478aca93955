/** Waits for what may start after the server: its database, its executor hosts. */
import type { Clock } from './clock.ts';

/** Longer than a database or a host needs to start again, to recover, or to have its image pulled. */
const WAIT_MINUTES = 5;
const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 5_000;

export interface OutageWait {
  readonly clock: Clock;
  /** Called once, with the problem, when the first attempt meets an outage. */
  readonly onOutage: (sentence: string) => void;
}

interface Attempts<T> {
  readonly attempt: () => Promise<T>;
  /** The problem as a sentence, if waiting can help; otherwise the result counts. */
  readonly outageOf: (result: T) => string | undefined;
}

interface LastAttempt<T> {
  readonly result: T;
  /** Set when the outage lasted: how long was waited, as a clause. */
  readonly gaveUp?: string;
}

/** Attempts with growing pauses until the outage is over, for five minutes at most. */
export async function attemptThroughOutage<T>(
  { attempt, outageOf }: Attempts<T>,
  { clock, onOutage }: OutageWait,
): Promise<LastAttempt<T>> {
  const end = clock.now().getTime() + WAIT_MINUTES * 60_000;
  const { signal } = new AbortController();
  for (let pauseMs = 0; ; pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2 || FIRST_PAUSE_MS)) {
    if (pauseMs > 0) await clock.sleep(pauseMs, { signal });
    const result = await attempt();
    const problem = outageOf(result);
    if (problem === undefined) return { result };
    if (clock.now().getTime() >= end) return { result, gaveUp: `The server waited ${WAIT_MINUTES} minutes for it` };
    if (pauseMs === 0) onOutage(`${problem} The server waits for it, ${WAIT_MINUTES} minutes at most.`);
  }
}
