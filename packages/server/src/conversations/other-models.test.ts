/** Models beside the conversation's own, in a whole server: the one that stands in, and the one that puts into words. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { socketIoClient, testServer } from '../server.test-support.ts';

/** An OpenAI-compatible endpoint that answers each request with words, or refuses it. */
async function endpointOf(answer: (body: string) => string | { readonly status: number; readonly message: string }) {
  const asked: { readonly model: string; readonly key: string | undefined; readonly body: string }[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    asked.push({ model: (JSON.parse(body) as { model: string }).model, key: request.headers.authorization, body });
    const given = answer(body);
    if (typeof given !== 'string') {
      response.writeHead(given.status, { 'content-type': 'application/json' }).end(JSON.stringify({ error: { message: given.message } }));
      return;
    }
    const chunk = (delta: object, finish_reason: string | null) =>
      `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'x', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(`${chunk({ role: 'assistant', content: given }, null)}${chunk({}, 'stop')}data: [DONE]\n\n`);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => (server.closeAllConnections(), void server.close()));
  return { asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` };
}

it('LM726, LM728: the fallback model answers, with its own key, and clients are shown why', async () => {
  const main = await endpointOf(() => ({ status: 401, message: 'Key expired' }));
  const other = await endpointOf(() => 'Here I am.');
  const server = await testServer({
    env: {
      LLM_MODEL: 'openai/main',
      LLM_API_KEY: 'key-of-main',
      LLM_BASE_URL: main.url,
      LLM_FALLBACK_MODEL: 'openai/other',
      LLM_FALLBACK_API_KEY: 'key-of-other',
      LLM_FALLBACK_BASE_URL: other.url,
    },
  });
  const client = await socketIoClient(server, { conversation_id: await server.create(), latest_event_id: -1 });
  await client.frames.untilState('awaiting_user_input');
  client.send({ action: 'message', args: { content: 'hello' } });
  await client.frames.until((frame) => frame.action === 'message' && frame.source === 'agent');
  const reasons = client.frames.all.flatMap(({ extras }) => (extras as { reason?: string } | undefined)?.reason ?? []);
  expect(reasons).toContainEqual(expect.stringMatching(/^openai\/other answers in place of openai\/main: .*HTTP 401, Key expired/));
  expect(other.asked.map(({ model, key }) => [model, key])).toEqual([['other', 'Bearer key-of-other']]);
});

it('LM731: summaries are asked of the small model, and of the conversation’s own when that fails', async () => {
  const small = await endpointOf((body) => (body.includes('second task') ? { status: 404, message: 'gone' } : 'It was short.'));
  const main = await endpointOf((body) => (body.includes('[Summary request]') ? 'In the words of the main one.' : 'So be it.'));
  const server = await testServer({
    env: {
      LLM_MODEL: 'openai/main',
      LLM_API_KEY: 'key-of-main',
      LLM_BASE_URL: main.url,
      LLM_SMALL_MODEL: 'openai/small',
      LLM_SMALL_BASE_URL: small.url,
    },
  });
  const client = await socketIoClient(server, { conversation_id: await server.create(), latest_event_id: -1 });
  await client.frames.untilState('awaiting_user_input');
  for (const [task, summary] of [
    ['first task', 'It was short.'],
    ['second task', 'In the words of the main one.'],
  ]) {
    for (let turn = 0; turn < 4; turn++) {
      const from = client.frames.all.length;
      client.send({ action: 'message', args: { content: task } });
      await client.frames.until(
        (frame) =>
          client.frames.all.indexOf(frame) >= from && (frame.extras as { agent_state?: string })?.agent_state === 'awaiting_user_input',
      );
    }
    const from = client.frames.all.length;
    client.send({ action: 'condensation_request', args: {} });
    const condensed = await client.frames.until((frame) => client.frames.all.indexOf(frame) >= from && frame.observation === 'condense');
    expect(condensed.content).toBe(summary);
  }
  expect(small.asked.every(({ key }) => key === undefined)).toBe(true);
});
