import { Secret } from '@tendon/protocol/masking';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createLlmProvider } from '../create-llm-provider.ts';
import type { LlmMessage } from '../llm-provider.ts';
import { ModelTraitsBook } from '../model-traits.ts';
import { probeModel, type ModelProbe, type ProbeOptions } from '../probe-model.ts';
import { startModelEndpoint, type EndpointRequest, type EndpointTurn, type ModelEndpoint } from './model-endpoint.ts';
import { addressOf, answerOf, collect, createTestClock, KEY, PROTOCOLS, REQUEST } from './subjects.ts';

type Answer = (body: EndpointRequest['body']) => EndpointTurn;

const note = (id: string) => ({ id, name: 'note', pieces: ['{"word":"red"}'] });
const asksForCalls = (body: EndpointRequest['body']) => (body.tools ?? body.toolConfig) !== undefined;
const showsPicture = (body: EndpointRequest['body']) => /image|inlineData/.test(JSON.stringify(body));
const refused = (message: string, status = 400): EndpointTurn => ({ status, body: { error: { message } } });
const counted = ['one ', 'two ', 'three'];

/** Does all that is asked. */
const able: Answer = (body) => {
  if (asksForCalls(body)) return { calls: [note('a'), note('b')] };
  return { text: showsPicture(body) ? ['Red: ', ...counted] : counted };
};

interface Setting extends Partial<ProbeOptions> {
  readonly answer: Answer;
  readonly lists?: Readonly<Record<string, unknown>>;
}

async function probe({
  answer,
  lists,
  ...options
}: Setting): Promise<{ endpoint: ModelEndpoint; traits: ModelTraitsBook; found: ModelProbe }> {
  const endpoint = await startModelEndpoint('openai', answer, lists);
  onTestFinished(() => endpoint[Symbol.asyncDispose]());
  const traits = new ModelTraitsBook();
  const { signal } = new AbortController();
  const asked = {
    model: 'own/model',
    apiKey: new Secret(KEY),
    baseUrl: endpoint.url,
    clock: createTestClock(),
    traits,
    signal,
    ...options,
  };
  return { endpoint, traits, found: await probeModel(asked) };
}

describe('the probe of an endpoint', () => {
  it.each(PROTOCOLS)('LM800: finds what a model can do: $name', async (subject) => {
    const { protocol, model } = subject;
    await using endpoint = await startModelEndpoint(protocol, able);
    const address = addressOf(subject, endpoint);
    const { signal } = new AbortController();
    const asked = { model, apiKey: new Secret(KEY), clock: createTestClock(), traits: new ModelTraitsBook(), signal, ...address };
    const { traits, failure, tokens, costUsd } = await probeModel(asked);
    expect(failure).toBeUndefined();
    expect(traits).toMatchObject({ tools: true, parallelCalls: true, images: true, streaming: true });
    expect(endpoint.requests).toHaveLength(2);
    expect(tokens).toBe(220);
    expect(costUsd).toBeGreaterThan(0);
  });

  it('LM800: finds what a model cannot do', async () => {
    const { found, endpoint } = await probe({
      answer: (body) =>
        asksForCalls(body) || showsPicture(body) ? refused('this model does not support that') : { text: ['one two three'] },
    });
    expect(found).toEqual({ model: 'own/model', traits: { tools: false, images: false, streaming: false }, tokens: 110, costUsd: 0 });
    expect(endpoint.requests).toHaveLength(3);
  });

  it('LM800: a model that ignores tools and pictures has neither', async () => {
    const { found } = await probe({ answer: (body) => ({ text: showsPicture(body) ? ['none ', ...counted] : ['I cannot ', 'call.'] }) });
    expect(found.traits).toEqual({ tools: false, images: false, streaming: true });
  });

  it('LM800: one call at a time is noted', async () => {
    const { found } = await probe({ answer: (body) => (asksForCalls(body) ? { calls: [note('a')] } : able(body)) });
    expect(found.traits).toMatchObject({ tools: true, parallelCalls: false });
  });

  it.each([
    [
      'vLLM',
      {
        '/v1/models': {
          data: [
            { id: 'other', max_model_len: 1 },
            { id: 'own/model', max_model_len: 32_768 },
          ],
        },
      },
      32_768,
    ],
    ['llama.cpp', { '/v1/models': { data: [{ id: 'own/model', meta: { n_ctx_train: 131_072, n_ctx: 8_192 } }] } }, 8_192],
    [
      'Ollama',
      { '/v1/models': { data: [{ id: 'own/model' }] }, '/api/ps': { models: [{ model: 'own/model', context_length: 4_096 }] } },
      4_096,
    ],
    [
      'LM Studio',
      {
        '/v1/models': { data: [{ id: 'own/model' }] },
        '/api/v0/models': { data: [{ id: 'own/model', max_context_length: 131_072, loaded_context_length: 16_384 }] },
      },
      16_384,
    ],
    ['an endpoint that lists something else', { '/v1/models': { data: 'many' }, '/api/ps': [null] }, undefined],
    [
      'an endpoint that lists no figure',
      { '/v1/models': { data: [null, { id: 'own/model', max_model_len: '9k', n_ctx: -1 }] } },
      undefined,
    ],
  ])('LM801: the window is what the endpoint lists: %s', async (_name, lists, size) => {
    const { found, traits, endpoint } = await probe({ answer: able, lists });
    expect(found.traits.contextWindow).toBe(size);
    expect(traits.of({ baseUrl: endpoint.url, modelId: 'own/model' }).known.contextWindow).toBe(size);
  });

  it('LM802: an endpoint that refuses the key is asked once, and nothing is learned', async () => {
    const { found, endpoint, traits } = await probe({ answer: () => refused('wrong key', 401) });
    expect(found).toMatchObject({ traits: {}, failure: expect.stringContaining('wrong key'), tokens: 0 });
    expect(endpoint.requests).toHaveLength(1);
    expect(traits.of({ baseUrl: endpoint.url, modelId: 'own/model' }).known).toEqual({});
  });

  it('LM802: what fails for the moment shows nothing', async () => {
    const { found } = await probe({ answer: (body) => (showsPicture(body) ? refused('overloaded', 529) : able(body)) });
    expect(found.traits).toEqual({ tools: true, parallelCalls: true, streaming: true });
  });

  it('LM802: a model that every request fails with is no model without tools', async () => {
    const { found, endpoint } = await probe({ answer: () => refused('no such deployment') });
    expect(found).toMatchObject({ traits: {}, failure: expect.stringContaining('no such deployment') });
    expect(endpoint.requests).toHaveLength(2);
  });

  it('LM802: a model without an endpoint is not asked', async () => {
    const { found } = await probe({ answer: able, model: 'demo', baseUrl: undefined });
    expect(found.failure).toContain('no endpoint');
  });

  it('LM803: an answer without end is left', async () => {
    const endless = { text: Array.from({ length: 100 }, () => 'and so on and on '.repeat(10)), ending: 'hang' } as const;
    const { found, endpoint } = await probe({ answer: () => endless });
    expect(found.failure).toBe('it did not answer in time');
    expect(endpoint.requests).toHaveLength(1);
    await endpoint.requests[0]!.closed;
  });

  it('LM803: a question that is not answered within a minute ends the probe', async () => {
    const clock = createTestClock();
    const endpoint = await startModelEndpoint('openai', [{ text: ['one'], ending: 'hang' }]);
    onTestFinished(() => endpoint[Symbol.asyncDispose]());
    const answered = endpoint.answered();
    const traits = new ModelTraitsBook();
    const probing = probeModel({ model: 'own/model', baseUrl: endpoint.url, clock, traits, signal: new AbortController().signal });
    await answered;
    clock.advance(60_000);
    expect((await probing).failure).toBe('it did not answer in time');
  });
});

describe('what the probe found is used', () => {
  const PIXEL = 'data:image/png;base64,iVBORw0KGgo=';
  const messages: readonly LlmMessage[] = [{ role: 'user', text: 'Look.', imageUrls: [PIXEL] }];
  const provider = (endpoint: ModelEndpoint, traits: ModelTraitsBook, model = 'own/model') =>
    createLlmProvider({ model, apiKey: new Secret(KEY), baseUrl: endpoint.url, clock: createTestClock(), traits });

  it('LM804: a model without tools is asked in text at once, and one that sees nothing is sent no picture', async () => {
    const { traits, endpoint } = await probe({ answer: () => ({ text: ['none: ', ...counted] }) });
    const asked = endpoint.requests.length;
    await collect(provider(endpoint, traits), { ...REQUEST, messages });
    expect(endpoint.requests).toHaveLength(asked + 1);
    const { body } = endpoint.requests.at(-1)!;
    expect(body.tools).toBeUndefined();
    expect(JSON.stringify(body.messages)).toContain('execute_bash');
    expect(JSON.stringify(body.messages)).not.toContain('iVBORw0KGgo=');
  });

  it('LM804: what the endpoint showed counts more than what the list of models says', async () => {
    const { traits, endpoint } = await probe({ answer: able, model: 'azure/gpt-4' });
    const blind = provider(endpoint, new ModelTraitsBook(), 'azure/gpt-4');
    const seeing = provider(endpoint, traits, 'azure/gpt-4');
    for (const one of [blind, seeing]) expect(answerOf(await collect(one, { messages, tools: [] })).text).not.toBe('');
    const sent = endpoint.requests.slice(-2).map(({ body }) => JSON.stringify(body).includes('iVBORw0KGgo='));
    expect(sent).toEqual([false, true]);
  });
});
