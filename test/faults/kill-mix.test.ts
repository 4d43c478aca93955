/** Every kind of kill in one life of a conversation, with moments that are drawn from one seed. A thousand of them: `test/long`. */
import fc from 'fast-check';
import { runs } from '@tendon/testing';
import { describe, it } from 'vitest';
import { expectTheTruthAfter, strikes, titleOf, type Strike } from './kill-mix.ts';

const SEED = 20_261_122;
const KINDS: readonly Strike['kind'][] = ['at-work', 'asleep', 'stop', 'full-disk', 'restore'];

const STRIKES = KINDS.length * runs(2, 1);

describe('the server is killed', () => {
  const moments = fc.sample(fc.array(strikes, { minLength: STRIKES, maxLength: STRIKES }), { numRuns: runs(2), seed: SEED });
  for (const drawn of moments) {
    const all = drawn.map((strike, index) => ({ ...strike, kind: KINDS[index % KINDS.length]! }));
    it(`EN167, EN169: ${titleOf(all)}`, { timeout: 300_000 }, () => expectTheTruthAfter(all));
  }
});
