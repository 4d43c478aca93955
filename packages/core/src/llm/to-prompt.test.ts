import { describe, expect, it } from 'vitest';
import { bench, collect, PROTOCOLS } from './contract/subjects.ts';
import type { LlmMessage } from './llm-provider.ts';
import { createToPrompt } from './to-prompt.ts';

const PIXEL = 'data:image/png;base64,iVBORw0KGgo=';

const MESSAGES: readonly LlmMessage[] = [
  { role: 'system', text: 'You are an agent.' },
  { role: 'user', text: '', imageUrls: [PIXEL, 'https://example.org/a.png', 'https://example.org/b?size=9', 'javascript:alert(1)'] },
  {
    role: 'assistant',
    text: '',
    toolCalls: [
      { id: 'functions.bash:0', name: 'execute_bash', arguments: '{"command":"ls"}' },
      { id: 'b', name: 'execute_bash', arguments: '{"comm' },
    ],
  },
  { role: 'tool', toolCallId: 'functions.bash:0', toolName: 'execute_bash', text: '', imageUrls: [PIXEL] },
  { role: 'tool', toolCallId: 'b', toolName: 'execute_bash', text: 'missing parameter' },
  { role: 'assistant', text: '  ' },
  { role: 'user', text: 'go on' },
];

const AS_SENT = { model: 'm', style: 'as-sent', rules: 'usual' } as const;

describe('the request', () => {
  it('LM50: ids, arguments and texts are legal for every provider', () => {
    const prompt = createToPrompt(AS_SENT)(MESSAGES);
    expect(prompt.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool', 'tool', 'user', 'user']);
    expect(prompt[1]).toMatchObject({
      content: [{ type: 'text', text: '(an image)' }, { type: 'file' }, { type: 'file' }, { type: 'file' }],
    });
    expect(prompt[2]).toMatchObject({
      content: [
        { toolCallId: 'functions_bash_0', input: { command: 'ls' } },
        { toolCallId: 'b', input: { malformed_arguments: '{"comm' } },
      ],
    });
    expect(prompt[3]).toMatchObject({ content: [{ toolCallId: 'functions_bash_0', output: { value: '(no output)' } }] });
    expect(prompt[5]).toMatchObject({ content: [{ type: 'text' }, { type: 'file', mediaType: 'image/png' }] });
  });

  it('LM51: the system prompt and the last two inputs are marked', () => {
    const marked = createToPrompt(AS_SENT)(MESSAGES).map(({ providerOptions }) => providerOptions !== undefined);
    expect(marked).toEqual([true, false, false, false, false, true, true]);
  });

  it('LM745: what was in an earlier request is not made again, and what was marked in it is not marked any more', () => {
    const toPrompt = createToPrompt(AS_SENT);
    const before = toPrompt(MESSAGES.slice(0, 5));
    expect(toPrompt(MESSAGES)).toEqual(createToPrompt(AS_SENT)(MESSAGES));
    // The system prompt and the last two inputs are copies with a mark.
    for (const index of [2, 3]) expect(toPrompt(MESSAGES)[index]).toBe(toPrompt(MESSAGES)[index]);
    expect(before[2]).toBe(toPrompt(MESSAGES)[2]);
  });

  it.each(PROTOCOLS)('LM50: the package of $name takes it', async (subject) => {
    await using at = await bench(subject, [{ text: ['ok'] }]);
    const events = await collect(at.provider, { messages: MESSAGES, tools: [] });
    expect(events.at(-1)?.type).toBe('done');
    const { messages, input, contents } = at.endpoint.requests[0]!.body;
    const sent = JSON.stringify(messages ?? input ?? contents);
    for (const picture of ['iVBORw0KGgo=', 'https://example.org/a.png', 'https://example.org/b?size=9']) expect(sent).toContain(picture);
    expect(sent).not.toContain('javascript:');
  });
});
