import type { Clock } from '../../async/clock.ts';

export interface ManualClock extends Clock {
  set(iso: string): void;
}

/** A clock that is set by hand. */
export function manualClock(start = '2026-11-21T09:00:00.000Z'): ManualClock {
  let now = new Date(start);
  return { now: () => now, sleep: () => Promise.reject(new Error('nothing waits in storage')), set: (iso) => (now = new Date(iso)) };
}
