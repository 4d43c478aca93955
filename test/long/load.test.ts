/** The load of `test/faults/load.test.ts` at its whole size. */
import { it } from 'vitest';
import { expectNothingLost } from '../faults/load.ts';

it('SV98: four hundred clients of two hundred conversations get everything in order and once', { timeout: 1_800_000 }, () =>
  expectNothingLost({ conversations: 200, steps: 100, kills: 0 }),
);

it('SV98: twenty-four kills under that load lose and duplicate nothing', { timeout: 3_600_000 }, () =>
  expectNothingLost({ conversations: 200, steps: 400, kills: 24 }),
);
