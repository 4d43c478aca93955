import { runs } from '@tendon/testing';
import { it } from 'vitest';
import { expectNothingLost } from './load.ts';

it('SV98: two clients of each of many conversations get every event in order and once, through kills', { timeout: 600_000 }, () =>
  expectNothingLost({ conversations: runs(20, 8), steps: runs(125, 60), stepMs: 40, kills: runs(4, 2) }),
);
