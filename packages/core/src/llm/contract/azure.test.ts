import { Secret } from '@tendon/protocol/masking';
import { expect, it } from 'vitest';
import { createLlmProvider } from '../create-llm-provider.ts';
import { startModelEndpoint } from './model-endpoint.ts';
import { answerOf, collect, createTestClock, KEY } from './subjects.ts';

it('LM41: a deployment of Azure is asked at its resource, with the key in Azure’s own header', async () => {
  await using endpoint = await startModelEndpoint('openai', [{ text: ['ok'] }]);
  const baseUrl = new URL(endpoint.url).origin;
  const provider = createLlmProvider({ model: 'azure/my-gpt', apiKey: new Secret(KEY), baseUrl, clock: createTestClock() });
  expect(answerOf(await collect(provider)).text).toBe('ok');
  const [request] = endpoint.requests;
  expect(request).toMatchObject({ url: '/openai/v1/chat/completions', headers: { 'api-key': KEY }, body: { model: 'my-gpt' } });
});
