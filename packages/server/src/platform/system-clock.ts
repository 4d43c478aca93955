import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '@tendon/core';

/** The machine's own time. */
export const systemClock: Clock = {
  now: () => new Date(),
  sleep: (ms, { signal }) => sleep(ms, undefined, { signal }),
};
