import { it } from 'vitest';
import { expectNothingLost } from './load.ts';

it('SV98: forty clients of twenty conversations get five thousand events in order and once, through four kills', { timeout: 600_000 }, () =>
  expectNothingLost({ conversations: 20, steps: 125, stepMs: 40, kills: 4 }),
);
