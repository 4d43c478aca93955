/**
 * A minute of hostile input at each endpoint: nothing ends, nothing is logged as a failure, somebody beside it is served, and memory is
 * given back. What each endpoint answers to such input is held by shorter tests in `npm test`; here it is the number that counts.
 */
import { expect, it } from 'vitest';
import { SEED } from '../../packages/server/src/fuzz/hostile-values.test-support.ts';
import { ENDPOINTS } from '../faults/fuzz/endpoints.ts';

const SECONDS = Number(process.env.FUZZ_SECONDS ?? 60);
const ROUNDS = 6;
const MAX_GROWTH_BYTES = 24 * 1024 ** 2;

it.each(Object.entries(ENDPOINTS))('SV510: a minute of fuzz at %s', { timeout: SECONDS * 10_000 + 120_000 }, async (name, open) => {
  const { volleys, expectUnharmed, heldBytes } = await open();
  const held: number[] = [];
  let seed = SEED;
  for (let round = 0; round < ROUNDS; round++) {
    const end = performance.now() + (SECONDS * 1000) / ROUNDS;
    while (performance.now() < end) await volleys[seed % volleys.length]!(seed++);
    await expectUnharmed();
    held.push(await heldBytes());
  }
  const report = `after ${seed - SEED} volleys it holds ${held.map((bytes) => (bytes / 1024 ** 2).toFixed(1)).join(', ')} MiB`;
  process.stdout.write(`${name}: ${report}\n`);
  // The first rounds fill caches.
  expect(held.at(-1)! - held[1]!, report).toBeLessThan(MAX_GROWTH_BYTES);
});
