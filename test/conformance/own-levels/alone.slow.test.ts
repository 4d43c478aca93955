import { describe, expect, it } from 'vitest';
import { idsOf, MANY_CHECKS_MS, missed, missedIn, OF_SILENCE } from './missed.ts';

/** The shortest that a server can be given. */
const SHORT_SILENCE_SECONDS = 1;

/** Servers of their own at the same time: checks that change what others see run one after another and leave a core idle. */
describe.concurrent('checks that need a server to themselves', () => {
  it('nothing fails that needs a server to itself', { timeout: MANY_CHECKS_MS }, async () => {
    expect(await missedIn('alone')).toEqual([]);
  });

  it('DL600: a run with `--silence` waits no longer than that', { timeout: MANY_CHECKS_MS }, async () => {
    const options = { only: [OF_SILENCE], silenceSeconds: SHORT_SILENCE_SECONDS };
    expect(await missed({ SANDBOX_NO_OUTPUT_SECONDS: String(SHORT_SILENCE_SECONDS) }, options)).toEqual([]);
  });

  it('nothing that concerns a key fails on a server with a key', { timeout: MANY_CHECKS_MS }, async () => {
    const key = 'a-key-that-guards-this-server';
    const only = idsOf(({ needs }) => needs === 'key');
    expect(await missed({ SESSION_API_KEY: key }, { only, key })).toEqual([]);
  });
});
