import type { Clock } from './clock.ts';

/** Aborts `signal` after so long, unless it is disposed of before. */
export interface Deadline extends Disposable {
  readonly signal: AbortSignal;
}

export function startDeadline(clock: Clock, ms: number): Deadline {
  const late = new AbortController();
  const ended = new AbortController();
  clock.sleep(ms, { signal: ended.signal }).then(
    () => late.abort(),
    () => undefined, // it was disposed of
  );
  return { signal: late.signal, [Symbol.dispose]: () => ended.abort() };
}
