import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type CheckResult, CHECKS, conform, LEVELS } from '@tendon/conformance';
import { TendonProcess } from '@tendon/testing/servers';

/** A check is about when silence ends a wait. */
const AS_SHIPPED = { SANDBOX_NO_OUTPUT_SECONDS: '10' };

describe('the conformance suite on Tendon itself', () => {
  let tendon: TendonProcess;
  beforeAll(async () => {
    tendon = await TendonProcess.start(AS_SHIPPED);
  });
  afterAll(() => tendon.remove());

  it.each(LEVELS)('nothing of level %s fails', { timeout: 600_000 }, async (level) => {
    const { results } = await conform({ url: tendon.url, levels: [level], patienceMs: 90_000 });
    expect(results.filter(isAmiss).map(({ check, why }) => `${check.id}: ${why}`)).toEqual([]);
  });
});

it('nothing that is about a key fails on a server with a key', { timeout: 240_000 }, async () => {
  const key = 'a-key-that-guards-this-server';
  const tendon = await TendonProcess.start({ SESSION_API_KEY: key });
  onTestFinished(() => tendon.remove());
  const only = CHECKS.filter(({ needs }) => needs === 'key').map(({ id }) => id);
  const { results } = await conform({ url: tendon.url, key, only, patienceMs: 90_000 });
  expect(results.filter(({ verdict }) => verdict !== 'passed').map(({ check, why }) => `${check.id}: ${why}`)).toEqual([]);
});

/** What is about a key is asked of a server that has one. */
function isAmiss({ check, verdict }: CheckResult): boolean {
  return verdict !== 'passed' && !(verdict === 'absent' && check.needs === 'key');
}
