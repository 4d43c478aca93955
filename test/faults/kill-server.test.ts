/**
 * The server dies in mid run, for real, and is started again: nothing is lost and nothing ran twice. The executor outlives it.
 * Random instants here; the stages of a step in `kill-at-stage.test.ts`.
 */
import fc from 'fast-check';
import { runs } from '@tendon/testing';
import { describe, it } from 'vitest';
import { expectExactlyOnce, killAndRestart, startCounting } from './counting.ts';

const RUNS = runs(4);
const KILLS_PER_RUN = runs(5, 3);
/** Every instant is drawn from it. */
const SEED = 20_261_121;

describe('the server is killed with SIGKILL', () => {
  const delays = fc.array(fc.integer({ min: 0, max: 350 }), { minLength: KILLS_PER_RUN, maxLength: KILLS_PER_RUN });
  for (const [run, delaysMs] of fc.sample(delays, { numRuns: RUNS, seed: SEED }).entries()) {
    it(`EN100: run ${run + 1}, each time ${delaysMs.join(', ')} ms after it was up`, async () => {
      const counting = await startCounting();
      await killAndRestart(counting, delaysMs);
      await expectExactlyOnce(counting);
    });
  }
});
