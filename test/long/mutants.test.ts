/** The conformance suite is measured: in front of a right server a proxy does one thing wrong, and the suite must say which. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CheckResult, CHECKS, conform } from '@tendon/conformance';
import { TendonProcess } from '@tendon/testing/servers';
import type { Mutant } from './mutants/mutant.ts';
import { MUTANTS, MUTANTS_KEY } from './mutants/mutants.ts';
import { startMutatingProxy } from './mutants/mutating-proxy.ts';

const TIMEOUT_MS = 20_000;
const NOTHING_WRONG: Mutant = { id: 'none', fault: 'does nothing wrong', caughtBy: [], says: /./ };

let open: TendonProcess;
let guarded: TendonProcess;
beforeAll(async () => {
  [open, guarded] = await Promise.all([TendonProcess.start(), TendonProcess.start({ SESSION_API_KEY: MUTANTS_KEY })]);
});
afterAll(() => Promise.all([open.remove(), guarded.remove()]));

async function ask(mutant: Mutant, ids: readonly string[], isGuarded = mutant.headers !== undefined): Promise<readonly CheckResult[]> {
  await using proxy = await startMutatingProxy((isGuarded ? guarded : open).url, mutant);
  const { results } = await conform({ url: proxy.url, only: ids, timeoutMs: TIMEOUT_MS, ...(isGuarded && { key: MUTANTS_KEY }) });
  return results.filter(({ check }) => ids.includes(check.id));
}

it('the checks of all mutants exist, and pass behind a proxy without a fault', async () => {
  const ids = [...new Set(MUTANTS.flatMap(({ caughtBy }) => caughtBy))];
  expect(ids.filter((id) => !CHECKS.some((check) => check.id === id))).toEqual([]);
  const results = [
    ...(await ask(NOTHING_WRONG, ids)).filter(({ verdict }) => verdict !== 'absent'),
    ...(await ask(NOTHING_WRONG, ids, true)),
  ];
  expect(results.filter(({ verdict }) => verdict !== 'passed').map(({ check, why }) => `${check.id}: ${why}`)).toEqual([]);
});

describe('a server that', () => {
  it.each(MUTANTS)('$fault is reported', async (mutant) => {
    const results = await ask(mutant, mutant.caughtBy);
    expect(results.map(({ check, verdict, why }) => ({ id: check.id, verdict, why }))).toEqual(
      mutant.caughtBy.map((id) => ({ id, verdict: 'failed', why: expect.stringMatching(mutant.says) })).toSorted(byCheck),
    );
  });
});

/** Results come in the order of the suite. */
function byCheck(a: { readonly id: string }, b: { readonly id: string }): number {
  const place = ({ id }: { readonly id: string }): number => CHECKS.findIndex((check) => check.id === id);
  return place(a) - place(b);
}
