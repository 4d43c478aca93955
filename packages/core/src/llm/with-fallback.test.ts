import { Secret } from '@tendon/protocol/masking';
import { expect, it, onTestFinished } from 'vitest';
import { stage, systemClock } from '../conversation/conversation.test-support.ts';
import { startModelEndpoint, type EndpointTurn, type ModelEndpoint } from './contract/model-endpoint.ts';
import { answerOf, collect, failureOf, KEY } from './contract/subjects.ts';
import { createFastClock, createTestClock } from './contract/test-clock.ts';
import { createLlmProvider } from './create-llm-provider.ts';
import type { LlmProvider } from './llm-provider.ts';
import { withFallback } from './with-fallback.ts';
import { withRetries } from './with-retries.ts';

const refused = (status: number, message: string, headers = {}): EndpointTurn => ({ status, headers, body: { error: { message } } });
const OVERLOADED = refused(529, 'Overloaded');

async function endpointOf(turns: Parameters<typeof startModelEndpoint>[1]): Promise<ModelEndpoint> {
  const endpoint = await startModelEndpoint('openai', turns);
  onTestFinished(() => endpoint[Symbol.asyncDispose]());
  return endpoint;
}

function providerOf(model: string, { url: baseUrl }: ModelEndpoint, clock = systemClock): LlmProvider {
  return createLlmProvider({ model, apiKey: new Secret(KEY), baseUrl, clock });
}

async function pair(first: readonly EndpointTurn[], second: readonly EndpointTurn[] = [{ text: ['from the second'] }]) {
  const clock = createTestClock();
  const [a, b] = [await endpointOf(first), await endpointOf(second)];
  return { a, b, clock, provider: withFallback(providerOf('own/a', a, clock), providerOf('own/b', b, clock), { clock }) };
}

it.each([
  ['overloaded', OVERLOADED],
  ['failing', refused(500, 'Internal error')],
  ['limited for long', refused(429, 'Come back tomorrow', { 'retry-after': '86400' })],
  ['closed to this key', refused(401, 'Key expired')],
  ['without credit', refused(402, 'Payment required')],
  ['gone', refused(404, 'model_not_found')],
])('LM726: a model that is %s is replaced, with the words of its provider', async (_name, turn) => {
  const { provider } = await pair([turn]);
  const events = await collect(provider);
  expect(answerOf(events)).toMatchObject({ text: 'from the second', model: 'own/b' });
  expect(events.find(({ type }) => type === 'fallback')).toMatchObject({ from: 'own/a', to: 'own/b' });
});

it.each([
  ['is too long', refused(400, "This model's maximum context length is 8192 tokens"), 'LLM_CONTEXT_EXCEEDED'],
  ['is against a policy', refused(400, 'Blocked by the content policy'), 'LLM_CONTENT_POLICY'],
  ['makes no sense', refused(400, 'No such parameter'), 'LLM_FAILED'],
])('LM726: a request that %s is sent to no other model', async (_name, turn, code) => {
  const { provider, b } = await pair([turn]);
  expect(failureOf(await collect(provider)).error.code).toBe(code);
  expect(b.requests).toHaveLength(0);
});

it('LM727: the first model is left alone for a while, then asked again', async () => {
  const { provider, a, b, clock } = await pair([OVERLOADED, { text: ['from the first'] }]);
  await collect(provider);
  expect((await collect(provider)).map(({ type }) => type)).toEqual(['fallback', 'delta', 'done']);
  expect([a.requests.length, b.requests.length]).toEqual([1, 2]);
  clock.advance(300_000);
  expect(answerOf(await collect(provider)).text).toBe('from the first');
});

it('LM726: a rate limit is waited for three times, then replaced', async () => {
  const clock = createFastClock();
  const [a, b] = [await endpointOf([refused(429, 'Slow down')]), await endpointOf([{ text: ['ok'] }])];
  const first = withRetries(providerOf('own/a', a), { clock, random: () => 1, maxAttempts: 3 });
  const events = await collect(withFallback(first, providerOf('own/b', b), { clock }));
  expect(events.map(({ type }) => type)).toEqual(['retry', 'retry', 'fallback', 'delta', 'done']);
  expect(a.requests).toHaveLength(3);
});

it('LM728: the state says who answers, and why, in the provider’s words, until the first model answers again', async () => {
  const act = { calls: [{ id: 'a', name: 'think', pieces: ['{"thought":"x"}'] }] };
  const clock = createTestClock();
  const a = await endpointOf([OVERLOADED, { calls: [{ id: 'b', name: 'finish', pieces: ['{"message":"done"}'] }] }]);
  // While the second one answers, the first one's rest ends.
  const b = await endpointOf(() => {
    clock.advance(300_000);
    return act;
  });
  const provider = withFallback(providerOf('own/a', a), providerOf('own/b', b), { clock });
  const { say, untilState, events } = await stage({ provider });
  await say('think, then finish');
  await untilState('finished');
  const states = (await events()).flatMap((event) =>
    'observation' in event && event.observation === 'agent_state_changed' ? [[event.extras.agent_state, event.extras.reason]] : [],
  );
  const why = "own/b answers in place of own/a: The model's provider did not answer: HTTP 529, Overloaded";
  expect(states.slice(-4)).toEqual([
    ['running', ''],
    ['running', why],
    ['running', ''],
    ['finished', ''],
  ]);
});
