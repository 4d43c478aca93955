import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { Secret } from '@tendon/protocol/masking';
import { createLlmProvider } from '../create-llm-provider.ts';
import { answerOf, collect, createTestClock, KEY, textOf } from './subjects.ts';

const REFUSAL = {
  error: { message: 'This model is only supported in v1/responses and not in v1/chat/completions.', type: 'invalid_request_error' },
};

function* responsesFrames(): Iterable<string> {
  const item = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'execute_bash', arguments: '', status: 'in_progress' };
  const response = { id: 'resp_1', object: 'response', created_at: 1, model: 'gpt-x-codex', output: [] };
  const usage = {
    input_tokens: 7,
    input_tokens_details: { cached_tokens: 2 },
    output_tokens: 3,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 10,
  };
  const done = { ...item, arguments: '{"command":"ls"}', status: 'completed' };
  let sequence_number = 0;
  const send = (type: string, fields: object) =>
    `data: ${JSON.stringify({ type, sequence_number: sequence_number++, output_index: 0, ...fields })}\n\n`;
  yield send('response.created', { response: { ...response, status: 'in_progress' } });
  yield send('response.output_item.added', { item });
  for (const delta of ['{"command"', ':"ls"}']) yield send('response.function_call_arguments.delta', { item_id: 'fc_1', delta });
  yield send('response.output_item.done', { item: done });
  yield send('response.completed', { response: { ...response, status: 'completed', output: [done], usage } });
}

it('LM45: a model that OpenAI serves on its other API is asked there, from then on at once', async () => {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    request.resume().on('end', () => {
      if (request.url?.endsWith('/chat/completions'))
        return response.writeHead(404, { 'content-type': 'application/json' }).end(JSON.stringify(REFUSAL));
      return response.writeHead(200, { 'content-type': 'text/event-stream' }).end([...responsesFrames()].join(''));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const { port } = server.address() as AddressInfo;
    const divert: typeof fetch = (input, init) => fetch(String(input).replace('https://api.openai.com', `http://127.0.0.1:${port}`), init);
    const provider = createLlmProvider({ model: 'openai/gpt-x-codex', apiKey: new Secret(KEY), clock: createTestClock(), fetch: divert });
    const events = await collect(provider);
    expect(answerOf(events)).toMatchObject({
      toolCalls: [{ id: 'call_1', arguments: '{"command":"ls"}' }],
      usage: { inputTokens: 7, cacheReadTokens: 2 },
    });
    expect(textOf(events, 'tool')).toBe('{"command":"ls"}');
    await collect(provider);
    expect(asked).toEqual(['/v1/chat/completions', '/v1/responses', '/v1/responses']);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
