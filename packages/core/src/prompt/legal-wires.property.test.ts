import type { LanguageModelV4Prompt } from '@ai-sdk/provider';
import { answerOf, type AnswerReasoning, type Event, type ProviderMetadata } from '@tendon/protocol';
import { runs } from '@tendon/testing';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { codeActAgent } from '../agents/code-act-agent.ts';
import type { ReplayStyle } from '../llm/reasoning-replay.ts';
import { createToPrompt, type PromptShape } from '../llm/to-prompt.ts';
import { legalityProblems } from './legal-request.test-support.ts';
import { implausibleLog, plausibleLog } from './random-log.test-support.ts';
import { View } from './view.ts';

const OWN = 'own/model';
const THEIRS = 'their/model';

const metadata = fc.constantFrom<ProviderMetadata | undefined>(
  undefined,
  { anthropic: { signature: 'S' } },
  { openai: { itemId: 'rs_1', reasoningEncryptedContent: 'E' } },
  { reasoningFields: { details: [{ type: 'reasoning.text', text: 't', index: 0 }] } },
  { reasoningFields: { field: 'reasoning' } },
  { reasoningFields: { details: 'none', field: 7 } },
);
const part = fc
  .record({ text: fc.constantFrom('', ' ', 'I think'), at: fc.nat(5), metadata })
  .map(({ metadata: opaque, ...rest }) => ({ ...rest, ...(opaque && { metadata: opaque }) }));
const signed = fc
  .constantFrom('call_0', 'call_0_0', 'call_1_0', 'a', '__proto__')
  .map((id) => ({ [id]: { google: { thoughtSignature: 'G' } } }));

/** Each text names the model that thought it. */
const reasoning = fc
  .record({ model: fc.constantFrom(OWN, THEIRS), parts: fc.array(part, { maxLength: 3 }), calls: fc.option(signed, { nil: undefined }) })
  .map(({ model, parts, calls }): AnswerReasoning => {
    const named = parts.map((one) => ({ ...one, text: one.text.trim() === '' ? one.text : `${model}: ${one.text}` }));
    return { model, parts: named, ...(calls && { calls }) };
  });

/** As the engine writes it, on the first event of an answer; or on any event at all. */
const reasoned: fc.Arbitrary<readonly Event[]> = fc
  .tuple(fc.oneof(plausibleLog, implausibleLog), fc.array(fc.option(reasoning), { minLength: 1, maxLength: 6 }), fc.boolean())
  .map(([log, thoughts, isEverywhere]) => {
    const seen = new Set<string>();
    return log.map((event, at) => {
      const id = answerOf(event)?.id;
      const thought = thoughts[at % thoughts.length];
      if ('unknown' in event || !thought || (!isEverywhere && (id === undefined || seen.has(id)))) return event;
      if (id !== undefined) seen.add(id);
      return { ...event, reasoning: thought };
    });
  });

const STYLES: readonly ReplayStyle[] = ['as-sent', 'text-with-calls', 'signed-calls', 'none'];
const SHAPES: readonly PromptShape[] = [
  ...STYLES.map((style) => ({ model: OWN, style, rules: 'usual' as const })),
  { model: OWN, style: 'none', rules: 'mistral' },
];

type Message = LanguageModelV4Prompt[number];

/** What an endpoint of this shape refuses of one message that comes after another. */
function faultsOf(message: Message, before: Message | undefined, { style, rules }: PromptShape): readonly string[] {
  const faults: string[] = [];
  if (rules === 'mistral' && message.role === 'user' && before?.role === 'tool') faults.push('a word directly after a result');
  if (message.role === 'tool' && rules === 'mistral')
    for (const one of message.content)
      if ('toolCallId' in one && !/^[a-zA-Z0-9]{9}$/.test(one.toolCallId)) faults.push(`id ${one.toolCallId}`);
  if (message.role !== 'assistant') return faults;
  const { content, providerOptions } = message;
  const thoughts = content.filter((one) => one.type === 'reasoning');
  const calls = content.filter((one) => one.type === 'tool-call');
  if (content.length === 0 || content.at(-1)!.type === 'reasoning') faults.push('an answer without text and calls');
  if (thoughts.some(({ text }) => text.startsWith(THEIRS))) faults.push('what another model thought');
  const fields = providerOptions?.openaiCompatible;
  if ((style === 'none' || style === 'signed-calls') && (thoughts.length > 0 || fields)) faults.push('a field that is not known');
  if (fields && thoughts.length > 0) faults.push('one thought twice');
  if (style === 'text-with-calls' && calls.length > 0 && !thoughts.some(({ text }) => text !== '') && !fields)
    faults.push('no reasoning_content');
  if (style === 'signed-calls' && calls.length > 0 && !calls[0]!.providerOptions?.google?.thoughtSignature) faults.push('no signature');
  if (rules === 'mistral' && calls.some(({ toolCallId }) => !/^[a-zA-Z0-9]{9}$/.test(toolCallId))) faults.push('an id that is too long');
  return faults;
}

it('EN30, LM50, LM711, LM807: with reasoning too, every prefix of every log gives a request that each kind of endpoint takes', () => {
  fc.assert(
    fc.property(reasoned, (log) => {
      const view = new View(codeActAgent);
      const wires = SHAPES.map((shape) => ({ shape, toPrompt: createToPrompt(shape) }));
      const faults: unknown[] = [];
      for (const [at, event] of [undefined, ...log].entries()) {
        if (event) view.add(event);
        const { messages } = view.project();
        faults.push(...legalityProblems(messages));
        for (const { shape, toPrompt } of wires) {
          const prompt = toPrompt(messages);
          for (const [index, message] of prompt.entries())
            for (const fault of faultsOf(message, prompt[index - 1], shape)) faults.push({ at, index, fault, shape });
        }
      }
      // Once for each log: a comparison costs more than what it compares.
      expect(faults).toEqual([]);
    }),
    { numRuns: runs(10_000, 400) },
  );
});
