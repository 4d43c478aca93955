import { Secret } from '@tendon/protocol/masking';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createLlmProvider } from '../create-llm-provider.ts';
import { ModelTraitsBook } from '../model-traits.ts';
import { withRetries } from '../with-retries.ts';
import { startModelEndpoint } from './model-endpoint.ts';
import { answerOf, collect, createTestClock, failureOf, KEY } from './subjects.ts';

async function refusing(message: string) {
  const endpoint = await startModelEndpoint('openai', [{ status: 400, body: { error: { message } } }]);
  onTestFinished(() => endpoint[Symbol.asyncDispose]());
  const clock = createTestClock();
  const traits = new ModelTraitsBook();
  const make = (model: string) =>
    withRetries(createLlmProvider({ model, apiKey: new Secret(KEY), baseUrl: endpoint.url, clock, traits }), { clock, random: () => 0 });
  return make;
}

describe('the window of a model', () => {
  it.each([
    ["This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.", 8_192],
    ['prompt is too long: 210000 tokens > 200000 maximum', 200_000],
    ['input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000, too long a prompt is too long', 200_000],
    ['the request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it', 4_096],
    ['prompt is too long: the input token count (1200000) exceeds the maximum number of tokens allowed (1,048,576).', 1_048_576],
    ['Prompt contains 40000 tokens, too many tokens for a model with 32768 maximum context length', 32_768],
    ['The prompt is too long: it is longer than the maximum model length of 4096', 4_096],
    ['too many tokens: the model is loaded with context length of only 4096 tokens', 4_096],
    ['Your request is too long: it exceeded model token limit: 262144', 262_144],
    ['The input is too long for a context window of 128k', 128_000],
    ['Input is too long for requested model.', undefined],
  ])('LM729: is learned from the refusal: %s', async (message, size) => {
    const make = await refusing(message);
    const provider = make('own/model');
    expect(provider.contextWindow).toBeUndefined();
    expect(failureOf(await collect(provider)).error.code).toBe('LLM_CONTEXT_EXCEEDED');
    expect(provider.contextWindow).toBe(size);
    expect(make('own/model').contextWindow).toBe(size);
    expect(make('own/other').contextWindow).toBeUndefined();
  });
});

it.each([
  ['own/model', true],
  ['openai/gpt-4o', undefined],
])('LM730: an answer of %s says that its price is not known: %s', async (model, isUnpriced) => {
  const endpoint = await startModelEndpoint('openai', [{ text: ['ok'] }]);
  onTestFinished(() => endpoint[Symbol.asyncDispose]());
  const provider = createLlmProvider({ model, apiKey: new Secret(KEY), baseUrl: endpoint.url, clock: createTestClock() });
  expect(answerOf(await collect(provider)).isUnpriced).toBe(isUnpriced);
});
