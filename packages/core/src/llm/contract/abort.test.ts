import { describe, expect, it } from 'vitest';
import { createScriptedProvider } from '../scripted-provider.ts';
import { bench, collect, createTestClock, failureOf, PROTOCOLS, REQUEST } from './subjects.ts';

describe.each(PROTOCOLS)('ending a request over $name', (subject) => {
  it('LM4: aborted before it begins', async () => {
    await using at = await bench(subject, [{ text: ['never'] }]);
    expect(await collect(at.provider, REQUEST, AbortSignal.abort())).toEqual([]);
  });

  it('LM4: aborted while the endpoint has sent nothing', async () => {
    await using at = await bench(subject, [{ garbage: '', ending: 'hang' }]);
    const abort = new AbortController();
    void at.endpoint.answered().then(() => abort.abort());
    expect(await collect(at.provider, REQUEST, abort.signal)).toEqual([]);
    await at.endpoint.requests[0]!.closed;
  });

  it('LM4: aborted in the middle of the text, and the connection is closed', async () => {
    await using at = await bench(subject, [{ text: ['one ', 'two'], ending: 'hang' }]);
    const abort = new AbortController();
    const seen: string[] = [];
    for await (const event of at.provider.stream(REQUEST, { signal: abort.signal })) {
      seen.push(event.type);
      if (seen.length === 2) abort.abort();
    }
    expect(seen).toEqual(['delta', 'delta']);
    await at.endpoint.requests[0]!.closed;
  });

  it('LM4: a reader that walks away closes the connection', async () => {
    await using at = await bench(subject, [{ text: ['one ', 'two'], ending: 'hang' }]);
    for await (const event of at.provider.stream(REQUEST, { signal: new AbortController().signal })) {
      expect(event.type).toBe('delta');
      break;
    }
    await at.endpoint.requests[0]!.closed;
  });

  it('LM5: silence before the first word is a failure after its time', async () => {
    await using at = await bench(subject, [{ garbage: '', ending: 'hang' }], { silenceMs: 60_000 });
    void at.endpoint.answered().then(() => at.clock.advance(60_000));
    const failure = failureOf(await collect(at.provider));
    expect(failure).toMatchObject({ retryable: true, error: { code: 'LLM_UNAVAILABLE' } });
    expect(failure.error.message).toContain('no data for 60 s');
  });

  it('LM5: silence in the middle is counted from the last word', async () => {
    await using at = await bench(subject, [{ text: ['one'], ending: 'hang' }], { silenceMs: 60_000 });
    const types: string[] = [];
    for await (const event of at.provider.stream(REQUEST, { signal: new AbortController().signal })) {
      types.push(event.type);
      if (event.type === 'delta') at.clock.advance(60_000);
    }
    expect(types).toEqual(['delta', 'failed']);
    await at.endpoint.requests[0]!.closed;
  });
});

describe('ending a scripted answer', () => {
  it('LM4: an abort ends its pause at once', async () => {
    const clock = createTestClock();
    const abort = new AbortController();
    void clock.waiting().then(() => abort.abort());
    expect(await collect(createScriptedProvider([{ text: 'late', delayMs: 5_000 }], { clock }), REQUEST, abort.signal)).toEqual([]);
  });
});
