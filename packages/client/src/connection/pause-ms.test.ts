import { expect, it } from 'vitest';
import { pauseMs } from './pause-ms.ts';

it('CL3: a broken connection is tried again after 250 ms, doubling to 2 s for half a minute and then to 10 s, less a random half', () => {
  const pauses = (awayMs: number, random: number) => [1, 2, 3, 4, 5, 6, 7, 100].map((attempt) => pauseMs(attempt, awayMs, random));
  expect(pauses(0, 0)).toEqual([250, 500, 1_000, 2_000, 2_000, 2_000, 2_000, 2_000]);
  expect(pauses(30_000, 0)).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000]);
  expect(pauses(0, 1)).toEqual([125, 250, 500, 1_000, 1_000, 1_000, 1_000, 1_000]);
});
