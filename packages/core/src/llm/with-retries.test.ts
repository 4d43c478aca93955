import { describe, expect, it } from 'vitest';
import { createFastClock, createTestClock } from './contract/test-clock.ts';
import { answerOf, bench, collect, failureOf, PROTOCOLS, REQUEST } from './contract/subjects.ts';
import { createScriptedProvider, type ScriptedFailure, type ScriptedStep } from './scripted-provider.ts';
import { withRetries } from './with-retries.ts';

const LIMITED: ScriptedFailure = { failure: 'LLM_RATE_LIMITED' };

/** `random` at its largest: pauses are as long as they can be. */
async function play(steps: readonly ScriptedStep[], options: { random?: number; maxAttempts?: number; maxRetryAfterMs?: number } = {}) {
  const clock = createFastClock();
  const { random = 1, ...rest } = options;
  const events = await collect(withRetries(createScriptedProvider(steps), { clock, random: () => random, ...rest }));
  return { clock, events, retries: events.filter((event) => event.type === 'retry') };
}

describe('retries', () => {
  it('LM30, LM33: a rate limit is reported and retried', async () => {
    const { events, retries } = await play([{ ...LIMITED, text: 'half' }, { text: 'whole' }]);
    expect(events.map(({ type }) => type)).toEqual(['delta', 'retry', 'delta', 'done']);
    expect(retries).toMatchObject([
      { attempt: 1, failure: { error: { code: 'LLM_RATE_LIMITED' } }, resumesAt: new Date('2026-01-01T00:00:01.000Z') },
    ]);
    expect(answerOf(events).text).toBe('whole');
  });

  it('LM32: pauses double from one second to one minute', async () => {
    const { clock, events } = await play(
      Array.from({ length: 9 }, () => ({ ...LIMITED })),
      { maxAttempts: 9 },
    );
    expect(clock.pauses).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
    expect(failureOf(events).error.code).toBe('LLM_RATE_LIMITED');
  });

  it('LM32: half of a pause is random', async () => {
    const { clock } = await play([LIMITED, { ...LIMITED }, { text: 'ok' }], { random: 0 });
    expect(clock.pauses).toEqual([500, 1_000]);
  });

  it('LM31: the time that the provider names is obeyed, never shortened', async () => {
    const { clock } = await play([{ ...LIMITED, retryAfterMs: 7_000 }, { text: 'ok' }], { random: 0 });
    expect(clock.pauses).toEqual([7_000]);
  });

  it('LM35: a time beyond the longest allowed is a failure at once', async () => {
    const { clock, events } = await play([{ ...LIMITED, retryAfterMs: 7_200_000 }, { text: 'ok' }]);
    expect(failureOf(events).retryAfterMs).toBe(7_200_000);
    expect(clock.pauses).toEqual([]);
  });

  it('LM30: what is not retryable is given at once', async () => {
    const { events, retries } = await play([{ failure: 'LLM_AUTHENTICATION' }, { text: 'ok' }]);
    expect(failureOf(events).error.code).toBe('LLM_AUTHENTICATION');
    expect(retries).toEqual([]);
  });

  it('LM38: a pause ends, and the stream with it, when another model is chosen', async () => {
    const clock = createFastClock();
    let asked = 0;
    const isOutdated = () => ++asked > 3;
    const provider = createScriptedProvider([{ ...LIMITED, retryAfterMs: 600_000 }, { text: 'late' }]);
    const events = await collect(withRetries(provider, { clock, random: () => 0, isOutdated }));
    expect(events.map(({ type }) => type)).toEqual(['retry']);
    expect(clock.pauses).toEqual([1_000, 1_000, 1_000, 1_000]);
  });

  it('LM38: an unchanged choice is waited for as long as without', async () => {
    const clock = createFastClock();
    const provider = createScriptedProvider([{ ...LIMITED, retryAfterMs: 2_500 }, { text: 'ok' }]);
    expect(answerOf(await collect(withRetries(provider, { clock, random: () => 0, isOutdated: () => false }))).text).toBe('ok');
    expect(clock.pauses).toEqual([1_000, 1_000, 500]);
  });

  it('LM34: an abort ends a pause at once', async () => {
    const clock = createTestClock();
    const abort = new AbortController();
    void clock.waiting().then(() => abort.abort());
    const events = await collect(withRetries(createScriptedProvider([LIMITED]), { clock, random: () => 0.5 }), REQUEST, abort.signal);
    expect(events.map(({ type }) => type)).toEqual(['retry']);
  });
});

describe.each(PROTOCOLS)('retries over $name', (subject) => {
  it.each<Record<string, string>>([{ 'retry-after': '3' }, {}])(
    'LM31, LM32: a 429 with %j, a 500 and a cut stream end in the answer',
    async (headers) => {
      const clock = createFastClock();
      await using at = await bench(
        subject,
        [{ status: 429, headers }, { status: 500 }, { text: ['half'], ending: 'break' }, { text: ['whole'] }],
        { clock: createTestClock() },
      );
      const events = await collect(withRetries(at.provider, { clock, random: () => 0 }));
      expect(answerOf(events).text).toBe('whole');
      expect(clock.pauses).toEqual(['retry-after' in headers ? 3_000 : 500, 1_000, 2_000]);
      expect(at.endpoint.requests).toHaveLength(4);
    },
  );
});
