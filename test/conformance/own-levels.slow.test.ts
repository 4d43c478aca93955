import { describe, expect, it } from 'vitest';
import { type Check, type CheckResult, CHECKS, conform, type ConformOptions } from '@tendon/conformance';
import { TendonProcess } from '@tendon/testing/servers';

const TIMEOUT_MS = 90_000;
/** The shortest that a server can be given. */
const SHORT_SILENCE_SECONDS = 1;
/** Waits for as long as the server waits, and longer. */
const OF_SILENCE = 'v0-socketio/cells-hand-back';

/**
 * Servers of their own at the same time: checks that change what others see run one after another and leave a core idle, and most of
 * the rest wait for sandboxes. How long silence lasts is what servers ship with, for a check is about that.
 */
describe.concurrent('the conformance suite on Tendon itself', () => {
  const AS_SHIPPED = { SANDBOX_NO_OUTPUT_SECONDS: '10' };
  const others = CHECKS.filter(({ id }) => id !== OF_SILENCE);

  it('nothing fails that other checks run beside', { timeout: 600_000 }, async () => {
    const only = idsOf(others, ({ isAlone }) => !isAlone);
    expect(await missed(AS_SHIPPED, { only, parallel: 4 })).toEqual([]);
  });

  it('nothing fails that needs a server to itself', { timeout: 600_000 }, async () => {
    const only = idsOf(others, ({ isAlone }) => isAlone === true);
    expect(await missed(AS_SHIPPED, { only })).toEqual([]);
  });

  it('DL600: a run with `--silence` waits no longer than that', { timeout: 240_000 }, async () => {
    const silence = { silenceSeconds: SHORT_SILENCE_SECONDS };
    expect(await missed({ SANDBOX_NO_OUTPUT_SECONDS: String(SHORT_SILENCE_SECONDS) }, { only: [OF_SILENCE], ...silence })).toEqual([]);
  });
});

it('nothing that is about a key fails on a server with a key', { timeout: 240_000 }, async () => {
  const key = 'a-key-that-guards-this-server';
  const only = idsOf(CHECKS, ({ needs }) => needs === 'key');
  expect(await missed({ SESSION_API_KEY: key }, { only, key })).toEqual([]);
});

function idsOf(checks: readonly Check[], fits: (check: Check) => boolean): readonly string[] {
  return checks.filter(fits).map(({ id }) => id);
}

/** What these checks hold against a server of its own. */
async function missed(env: NodeJS.ProcessEnv, options: Omit<ConformOptions, 'url' | 'timeoutMs'>): Promise<readonly string[]> {
  const tendon = await TendonProcess.start(env);
  try {
    const { results } = await conform({ url: tendon.url, timeoutMs: TIMEOUT_MS, ...options });
    const isAmiss = ({ check, verdict }: CheckResult): boolean =>
      // What is about a key is asked of a server that has one.
      verdict !== 'passed' && !(verdict === 'absent' && check.needs === 'key' && options.key === undefined);
    return results.filter(isAmiss).map(({ check, why }) => `${check.id}: ${why}`);
  } finally {
    await tendon.remove();
  }
}
