import { describe, expect, it } from 'vitest';
import { createScriptedProvider } from '../scripted-provider.ts';
import { answerOf, bench, collect, PROTOCOLS, textOf, WRITING } from './subjects.ts';

describe.each(PROTOCOLS)('an answer over $name', (subject) => {
  it('LM1, LM2: text and reasoning come as deltas and end in one answer', async () => {
    await using at = await bench(subject, [{ reasoning: ['I ', 'think'], text: ['Hel', 'lo ', '🌍'] }]);
    const events = await collect(at.provider);
    expect(textOf(events, 'reasoning')).toBe(subject.reasons ? 'I think' : '');
    expect(textOf(events, 'text')).toBe('Hello 🌍');
    expect(answerOf(events)).toMatchObject({ text: 'Hello 🌍', toolCalls: [], finishReason: 'stop', model: subject.model });
  });

  it('LM3: several calls keep their order; a call without arguments has an empty object', async () => {
    await using at = await bench(subject, [
      {
        calls: [
          { id: 'a', name: 'execute_bash', pieces: ['{"command":', '"x"}'] },
          { id: 'b', name: 'finish', pieces: [] },
        ],
      },
    ]);
    expect(answerOf(await collect(at.provider)).toolCalls).toMatchObject([
      { id: 'a', name: 'execute_bash', arguments: '{"command":"x"}' },
      { id: 'b', name: 'finish', arguments: '{}' },
    ]);
  });

  it('LM6: usage counts cached input once, and the cost follows the table', async () => {
    await using at = await bench(subject, [{ text: ['ok'], usage: { input: 1_000_000, output: 100_000, cacheRead: 400_000 } }]);
    const { usage, costUsd } = answerOf(await collect(at.provider));
    expect(usage).toEqual({ inputTokens: 1_000_000, outputTokens: 100_000, cacheReadTokens: 400_000, cacheWriteTokens: 0 });
    const PRICES = {
      openai: [2.5, 1.25, 10],
      anthropic: [3, 0.3, 15],
      responses: [1.75, 0.175, 14],
      google: [1.25, 0.125, 10],
      bedrock: [3, 0.3, 15],
    } as const;
    const [input, cached, output] = PRICES[subject.protocol];
    expect(costUsd).toBeCloseTo(0.6 * input + 0.4 * cached + 0.1 * output, 6);
  });

  it('LM6: the latency is measured by the given clock', async () => {
    await using at = await bench(subject, [{ text: ['ok'] }]);
    const answered = at.endpoint.answered().then(() => at.clock.advance(1_234));
    const [events] = await Promise.all([collect(at.provider), answered]);
    expect(answerOf(events).latencyMs).toBe(1_234);
  });

  it('LM40: the request names the model without its provider and offers the tools', async () => {
    await using at = await bench(subject, [{ text: ['ok'] }]);
    await collect(at.provider);
    const [request] = at.endpoint.requests;
    expect(`${decodeURIComponent(request!.url)} ${JSON.stringify(request?.body)}`).toContain(subject.model.split('/')[1]!);
    expect(request?.body.stream === true || /:stream|converse-stream/.test(request!.url)).toBe(true);
    expect(JSON.stringify(request?.body.tools ?? request?.body.toolConfig)).toContain('execute_bash');
    expect(JSON.stringify(request?.headers)).toContain('sk-test-0123456789abcdef');
  });
});

describe.each(WRITING)('arguments that the model writes over $name', (subject) => {
  it('LM2, LM3: arguments in pieces are put together as the model wrote them', async () => {
    const pieces = ['{"com', 'mand": ', '"echo \\"a\\"', ' && b"  ', '}'];
    await using at = await bench(subject, [{ text: ['I look.'], calls: [{ id: 'call_1', name: 'execute_bash', pieces }] }]);
    const events = await collect(at.provider);
    const answer = answerOf(events);
    expect(answer).toMatchObject({ text: 'I look.', finishReason: 'tool_calls' });
    expect(answer.toolCalls).toMatchObject([{ id: 'call_1', name: 'execute_bash', arguments: pieces.join('') }]);
    expect(textOf(events, 'tool')).toBe(pieces.join(''));
  });

  it('LM15: complete calls with malformed arguments are an answer', async () => {
    await using at = await bench(subject, [{ calls: [{ id: 'a', name: 'execute_bash', pieces: ['{"command": "echo br'] }] }]);
    expect(answerOf(await collect(at.provider)).toolCalls[0]?.arguments).toBe('{"command": "echo br');
  });
});

describe('an answer of a script', () => {
  it('LM1, LM2: comes as deltas and ends in one answer', async () => {
    const text = 'A text that is longer than one delta, with a pair 🌍🌍🌍🌍🌍🌍🌍🌍🌍🌍🌍🌍🌍 in it.';
    const provider = createScriptedProvider([{ text, reasoning: 'why', toolCalls: [{ name: 'finish', arguments: { message: 'bye' } }] }]);
    const events = await collect(provider);
    expect(textOf(events, 'text')).toBe(text);
    expect(textOf(events, 'reasoning')).toBe('why');
    expect(textOf(events, 'tool')).toBe('{"message":"bye"}');
    expect(events.every((event) => event.type !== 'delta' || event.text.isWellFormed())).toBe(true);
    expect(answerOf(events)).toMatchObject({ text, toolCalls: [{ id: 'call_0_0', name: 'finish', arguments: '{"message":"bye"}' }] });
  });
});
