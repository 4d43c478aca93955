/** A thousand kills of every kind instead of a dozen: another seed each time, printed, so that a failing run can be repeated. */
import fc from 'fast-check';
import { describe, it } from 'vitest';
import { expectTheTruthAfter, strikes, titleOf } from '../faults/kill-mix.ts';

/** Those before a backup is put back are not counted. */
const KILLS = Number(process.env.SOAK_KILLS ?? 1_000);
/** As many as one conversation is struck with: a new home and sandbox for each kill would cost more than the kill. */
const KILLS_PER_RUN = 10;
const SEED = Number(process.env.SOAK_SEED ?? Date.now() % 1_000_000);

describe(`the server is killed ${KILLS} times, seed ${SEED}`, () => {
  const runs = fc.array(strikes, { minLength: KILLS_PER_RUN, maxLength: KILLS_PER_RUN });
  for (const [run, all] of fc.sample(runs, { numRuns: Math.ceil(KILLS / KILLS_PER_RUN), seed: SEED }).entries()) {
    it(`EN101, EN167, EN169: run ${run + 1}: ${titleOf(all)}`, { timeout: 300_000 }, () => expectTheTruthAfter(all));
  }
});
