import { describe, expect, it } from 'vitest';
import { answerOf, bench, collect, failureOf, PROTOCOLS, WRITING } from './subjects.ts';

const HALF_CALL = [{ id: 'a', name: 'execute_bash', pieces: ['{"command": "rm -r', 'f /tm'] }];

describe.each(PROTOCOLS)('what is no answer over $name', (subject) => {
  it.each(['break', 'end'] as const)('LM10: a stream cut in the text (%s)', async (ending) => {
    await using at = await bench(subject, [{ text: ['Hel'], ending }]);
    expect(failureOf(await collect(at.provider))).toMatchObject({ retryable: true });
  });

  it.each(['break', 'end'] as const)('LM10: a stream cut after a whole call, before the finish (%s)', async (ending) => {
    await using at = await bench(subject, [{ calls: [{ id: 'a', name: 'execute_bash', pieces: ['{"command":"ls"}'] }], ending }]);
    expect(failureOf(await collect(at.provider))).toMatchObject({ retryable: true });
  });

  it('LM10: a connection closed before any text', async () => {
    await using at = await bench(subject, [{ garbage: '', ending: 'break' }]);
    expect(failureOf(await collect(at.provider))).toMatchObject({ retryable: true });
  });

  it('LM11: an empty answer', async () => {
    await using at = await bench(subject, [{ finish: 'stop' }]);
    expect(failureOf(await collect(at.provider))).toMatchObject({ retryable: true, error: { code: 'LLM_FAILED' } });
  });

  it('LM11: an answer of reasoning alone', async () => {
    await using at = await bench(subject, [{ reasoning: ['hm'], text: [' \n'] }]);
    expect(failureOf(await collect(at.provider))).toMatchObject({ retryable: true, error: { code: 'LLM_FAILED' } });
  });

  it('LM12: the limit of output reached before any text', async () => {
    await using at = await bench(subject, [{ reasoning: ['hm'], finish: 'length' }]);
    expect(failureOf(await collect(at.provider))).toMatchObject({ retryable: false, error: { code: 'LLM_FAILED' } });
  });

  it('LM12: the limit of output reached in a text is an answer that says so', async () => {
    await using at = await bench(subject, [{ text: ['A long story'], finish: 'length' }]);
    expect(answerOf(await collect(at.provider))).toMatchObject({ text: 'A long story', finishReason: 'length' });
  });

  it('LM13: an answer that the content filter held back', async () => {
    await using at = await bench(subject, [{ finish: 'content_filter' }]);
    expect(failureOf(await collect(at.provider))).toMatchObject({ retryable: false, error: { code: 'LLM_CONTENT_POLICY' } });
  });

  it.each([
    'data: {"nonsense": tru\n\n',
    'data: {"choices": 5}\n\n',
    '<html><body>Welcome to the hotel network</body></html>',
    '\u0000\u0001\u0002',
    'event: x\n\n',
    `data: ${'['.repeat(5_000)}\n\n`,
  ])('LM14: a stream of %j', async (garbage) => {
    await using at = await bench(subject, [{ garbage }]);
    expect(failureOf(await collect(at.provider)).error.code).toMatch(/^LLM_(FAILED|UNAVAILABLE)$/);
  });

  it('LM20: an error inside the stream', async () => {
    await using at = await bench(subject, [
      { text: ['Hel'], errorFrame: { type: 'overloaded_error', message: 'Overloaded' }, ending: 'end' },
    ]);
    expect(failureOf(await collect(at.provider))).toMatchObject({ retryable: true, error: { code: 'LLM_UNAVAILABLE' } });
  });
});

describe.each(WRITING)('half a call over $name', (subject) => {
  it.each(['break', 'end'] as const)('LM10: a stream cut in the arguments of a call (%s)', async (ending) => {
    await using at = await bench(subject, [{ calls: HALF_CALL, ending }]);
    expect(failureOf(await collect(at.provider))).toMatchObject({ retryable: true });
  });

  it('LM12: the limit of output reached inside a call: the answer says so, and the turn carries nothing out', async () => {
    await using at = await bench(subject, [{ text: ['I do it.'], calls: HALF_CALL, finish: 'length' }]);
    const answer = answerOf(await collect(at.provider));
    expect(answer).toMatchObject({ finishReason: 'length', toolCalls: [{ arguments: '{"command": "rm -rf /tm' }] });
  });
});
