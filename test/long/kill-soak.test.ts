/** The kill test for an hour instead of a minute: another seed each time, printed, so that a failing run can be repeated. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expectExactlyOnce, killAndRestart, startCounting } from '../faults/counting.ts';

const RUNS = Number(process.env.SOAK_RUNS ?? 200);
const KILLS_PER_RUN = 8;
const SEED = Number(process.env.SOAK_SEED ?? Date.now() % 1_000_000);

describe(`the server is killed, seed ${SEED}`, () => {
  const delays = fc.array(fc.integer({ min: 0, max: 300 }), { minLength: KILLS_PER_RUN, maxLength: KILLS_PER_RUN });
  for (const [run, delaysMs] of fc.sample(delays, { numRuns: RUNS, seed: SEED }).entries()) {
    it(`EN101: run ${run + 1}, each time ${delaysMs.join(', ')} ms after it was up`, { timeout: 300_000 }, async () => {
      const counting = await startCounting();
      await killAndRestart(counting, delaysMs);
      await expectExactlyOnce(counting);
      expect(counting.tendon.output).not.toMatch(/\b(?:unhandled|uncaught)\b/i);
    });
  }
});
