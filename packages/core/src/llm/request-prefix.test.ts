import { Secret } from '@tendon/protocol/masking';
import { describe, expect, it } from 'vitest';
import { collect, createTestClock, PROTOCOLS, REQUEST } from './contract/subjects.ts';
import { createLlmProvider } from './create-llm-provider.ts';
import type { LlmMessage, LlmProvider } from './llm-provider.ts';

const SUBJECTS = [
  ...PROTOCOLS.map((subject) => ({ baseUrl: undefined, ...subject, ...('isAtUsers' in subject && { baseUrl: subject.host }) })),
  { model: 'mistral/mistral-large-latest', name: 'Mistral', baseUrl: undefined },
  { model: 'deepseek/deepseek-chat', name: 'DeepSeek', baseUrl: undefined },
];
const STEPS = 65;

describe.each(SUBJECTS)('requests of a long conversation to $name', ({ model, baseUrl }) => {
  it('EN980: what later requests repeat is sent as it would be written anew, byte for byte', async () => {
    const provider = recorded(model, baseUrl);
    const shortened: boolean[] = [];
    for (let step = 5; step < STEPS; step += 4) {
      const messages = conversation(model, step);
      const body = await provider.bodyOf(messages);
      const other = await recorded(model, baseUrl).bodyOf(messages);
      expect(body.text === other.text, `at ${step} steps: ${body.text.slice(0, 300)}`).toBe(true);
      shortened.push(body.isBytes);
    }
    expect(shortened.slice(0, 2)).toEqual([false, false]);
    expect(shortened.slice(-2)).toEqual([true, true]);
  });

  it('EN981: what has changed before is written anew', async () => {
    const provider = recorded(model, baseUrl);
    for (const step of [60, 63]) await provider.bodyOf(conversation(model, step));
    const condensed = conversation(model, 66).toSpliced(1, 9, { role: 'user', text: 'What was before, in short.' });
    const other = await recorded(model, baseUrl).bodyOf(condensed);
    expect(await provider.bodyOf(condensed)).toEqual(other);
    expect(await provider.bodyOf(condensed)).toEqual({ ...other, isBytes: true });
  });
});

/** The same objects for the same step: what a view shows of a log stays. */
const made = new Map<string, readonly LlmMessage[]>();

function conversation(model: string, steps: number): LlmMessage[] {
  return Array.from({ length: steps }, (_, step) => {
    const key = `${model} ${step}`;
    if (!made.has(key)) made.set(key, messagesOf(model, step));
    return made.get(key)!;
  }).flat();
}

/** Everything that a message can hold, each in some of the steps. */
function messagesOf(model: string, step: number): readonly LlmMessage[] {
  if (step === 0) return REQUEST.messages;
  const parts = [
    { text: `I think “${step}” \u{d83d}`, at: 0, metadata: { anthropic: { signature: 'S' }, openai: { itemId: `rs_${step}` } } },
  ];
  const reasoning = step % 2 === 0 ? { reasoning: { model: step % 4 === 0 ? model : 'an/other', parts } } : {};
  const text = step % 3 === 0 ? `Step ${step}, “quoted”\n` : '';
  const picture = step % 5 === 0 ? { imageUrls: ['data:image/png;base64,iVBORw0KGgo='] } : {};
  const calls = Array.from({ length: (step % 3) + 1 }, (_, at) => ({
    id: `call:${step}_${at}`,
    name: 'execute_bash',
    arguments: `{"command":"ls ${at}"}`,
  }));
  return [
    { role: 'assistant', text, toolCalls: calls, ...reasoning },
    ...calls.map(({ id }): LlmMessage => ({ role: 'tool', toolCallId: id, toolName: 'execute_bash', text: `\u0000 of ${id}`, ...picture })),
    ...(step % 7 === 0 ? [{ role: 'user', text: `And ${step}?`, ...picture } as const, { role: 'assistant', text: 'Yes. ' } as const] : []),
    ...(step % 11 === 0 ? [{ role: 'user', text: 'Go on.' } as const] : []),
  ];
}

/** A provider whose endpoint refuses everything, and what it was sent. */
function recorded(
  model: string,
  baseUrl: string | undefined,
): {
  bodyOf(messages: readonly LlmMessage[]): Promise<{ readonly text: string; readonly isBytes: boolean }>;
} {
  const bodies: unknown[] = [];
  const send: typeof fetch = async (_url, init) => {
    bodies.push(init?.body);
    return new Response('{"error":{"message":"no"}}', { status: 400, headers: { 'content-type': 'application/json' } });
  };
  const provider: LlmProvider = createLlmProvider({ model, baseUrl, apiKey: new Secret('key'), clock: createTestClock(), fetch: send });
  return {
    async bodyOf(messages) {
      await collect(provider, { ...REQUEST, messages });
      const body = bodies.at(-1);
      return { text: Buffer.from(body as string).toString(), isBytes: typeof body !== 'string' };
    },
  };
}
