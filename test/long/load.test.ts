/** The load of `test/faults/load.test.ts` at its whole size: 250 steps a second, about half of what one core can do. */
import { it } from 'vitest';
import { expectNothingLost } from '../faults/load.ts';

const MANY = { conversations: 200, stepMs: 800 } as const;

it('SV98: four hundred clients of two hundred conversations get everything in order and once', { timeout: 1_200_000 }, () =>
  expectNothingLost({ ...MANY, steps: 100, kills: 0 }),
);

it('SV98: twenty-four kills under that load lose and duplicate nothing', { timeout: 1_200_000 }, () =>
  expectNothingLost({ ...MANY, steps: 60, kills: 24 }),
);
