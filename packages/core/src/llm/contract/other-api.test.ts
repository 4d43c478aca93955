import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { Secret } from '@tendon/protocol/masking';
import { createLlmProvider } from '../create-llm-provider.ts';
import { answerOf, collect, createTestClock, KEY, textOf } from './subjects.ts';

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

function* chatFrames(): Iterable<string> {
  const base = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'gpt-x' };
  const calls = [{ index: 0, id: 'call_1', type: 'function', function: { name: 'execute_bash', arguments: '{"command":"ls"}' } }];
  yield `data: ${JSON.stringify({ ...base, choices: [{ index: 0, delta: { role: 'assistant', tool_calls: calls }, finish_reason: null }] })}\n\n`;
  const usage = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10, prompt_tokens_details: { cached_tokens: 2 } };
  yield `data: ${JSON.stringify({ ...base, choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }], usage })}\n\n`;
  yield 'data: [DONE]\n\n';
}

/** An OpenAI that serves its model on one API, and names it on the other. */
async function servingOnly(api: 'chat/completions' | 'responses') {
  const asked: string[] = [];
  const other = api === 'responses' ? 'chat/completions' : 'responses';
  const message = `This model is only supported in v1/${api} and not in v1/${other}.`;
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    request.resume().on('end', () => {
      if (!request.url?.endsWith(api))
        return response.writeHead(404, { 'content-type': 'application/json' }).end(JSON.stringify({ error: { message } }));
      const frames = api === 'responses' ? responsesFrames() : chatFrames();
      return response.writeHead(200, { 'content-type': 'text/event-stream' }).end([...frames].join(''));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => (server.closeAllConnections(), void server.close()));
  const { port } = server.address() as AddressInfo;
  const divert: typeof fetch = (input, init) => fetch(String(input).replace('https://api.openai.com', `http://127.0.0.1:${port}`), init);
  const provider = (model: string) => createLlmProvider({ model, apiKey: new Secret(KEY), clock: createTestClock(), fetch: divert });
  return { asked, provider };
}

it.each([
  ['gpt-4o', 'responses', ['/v1/chat/completions', '/v1/responses', '/v1/responses']],
  ['openai/gpt-5.2', 'chat/completions', ['/v1/responses', '/v1/chat/completions', '/v1/chat/completions']],
] as const)('LM45: %s, which OpenAI serves on its other API, %s, is asked there, from then on at once', async (model, api, requests) => {
  const at = await servingOnly(api);
  const provider = at.provider(model);
  const events = await collect(provider);
  expect(answerOf(events)).toMatchObject({
    toolCalls: [{ id: 'call_1', arguments: '{"command":"ls"}' }],
    usage: { inputTokens: 7, cacheReadTokens: 2 },
  });
  expect(textOf(events, 'tool')).toBe('{"command":"ls"}');
  await collect(provider);
  expect(at.asked).toEqual(requests);
});

it.each(['openai/gpt-5.6', 'o3', 'openai/gpt-of-tomorrow'])('LM732: OpenAI’s %s is asked on the Responses API first', async (model) => {
  const at = await servingOnly('responses');
  answerOf(await collect(at.provider(model)));
  expect(at.asked).toEqual(['/v1/responses']);
});
