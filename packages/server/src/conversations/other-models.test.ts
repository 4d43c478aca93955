/** Models beside the conversation's own, in a whole server: the one that stands in, and the one that puts into words. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { MessageAction } from '@tendon/protocol';
import { describe, expect, it, onTestFinished } from 'vitest';
import { socketIoClient, testServer } from '../server.test-support.ts';

type Answer = string | { readonly status: number; readonly message: string };

/** An OpenAI-compatible endpoint that answers each request with words, or refuses it. */
async function endpointOf(answer: (body: string) => Answer | Promise<Answer>) {
  const asked: { readonly model: string; readonly key: string | undefined; readonly body: string }[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    asked.push({ model: (JSON.parse(body) as { model: string }).model, key: request.headers.authorization, body });
    const given = await answer(body);
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

it('EN943: an explorer that another agent asked uses the small model, and the one of the conversation where that fails', async () => {
  const small = await endpointOf((body) => (body.includes('task-two') ? { status: 401, message: 'Key expired' } : 'It is in a.ts.'));
  const main = await endpointOf(() => 'It is in b.ts.');
  const env = { LLM_MODEL: 'openai/main', LLM_API_KEY: 'key-of-main', LLM_BASE_URL: main.url };
  const server = await testServer({ env: { ...env, LLM_SMALL_MODEL: 'openai/small', LLM_SMALL_BASE_URL: small.url } });
  const { conversations } = server.engine;
  const parent = (await conversations.get(await server.create()))!;
  const ask = async (agent: string, actionId: number, content: string) => {
    const child = await conversations.createDelegated(parent, { actionId, agent, agent_file: undefined });
    await conversations.submit(child.id, MessageAction.create({ content }));
    await expect.poll(() => conversations.state(child.id)?.lastUserMessageId).toBeGreaterThan(0);
    await expect.poll(() => conversations.state(child.id)?.agentState).toBe('awaiting_user_input');
    const log = await (await conversations.log(child.id))!.read();
    return log.findLast((event) => 'action' in event && event.action === 'message');
  };
  expect(await ask('ExploreAgent', 1, 'first')).toMatchObject({ args: { content: 'It is in a.ts.' } });
  expect(await ask('ExploreAgent', 2, 'task-two')).toMatchObject({ args: { content: 'It is in b.ts.' } });
  expect(await ask('CodeActAgent', 3, 'third')).toMatchObject({ args: { content: 'It is in b.ts.' } });
});

describe('titles', () => {
  async function conversing(small?: { readonly url: string }) {
    const main = await endpointOf(() => 'Done.');
    const env = { LLM_MODEL: 'openai/main', LLM_API_KEY: 'key-of-main', LLM_BASE_URL: main.url };
    const server = await testServer({ env: { ...env, ...(small && { LLM_SMALL_MODEL: 'openai/small', LLM_SMALL_BASE_URL: small.url }) } });
    const titleOf = async (id: string) => ((await (await server.get(`/api/conversations/${id}`)).json()) as { title: string }).title;
    const ask = async (content: string) => {
      const id = await server.create();
      const client = await socketIoClient(server, { conversation_id: id, latest_event_id: -1 });
      await client.frames.untilState('awaiting_user_input');
      client.send({ action: 'message', args: { content } });
      await client.frames.until((frame) => frame.action === 'message' && frame.source === 'agent');
      return id;
    };
    return { main, server, titleOf, ask };
  }

  it('LM808: are given by the small model, in one short request, and never in place of what a person wrote', async () => {
    const renamed = Promise.withResolvers<void>();
    const small = await endpointOf(async (body) => {
      if (body.includes('second task')) await renamed.promise;
      return '**Title: “Sorting a list”**\nI chose it because the task is about sorting.';
    });
    const { main, server, titleOf, ask } = await conversing(small);
    const first = await ask(`first task ${'x'.repeat(5_000)} its end`);
    await expect.poll(() => titleOf(first)).toBe('Sorting a list');
    expect(small.asked).toHaveLength(1);
    expect(small.asked[0]!.body).not.toContain('its end');
    const second = await ask('second task');
    expect(await titleOf(second)).toBe('second task');
    await fetch(`${server.url}/api/conversations/${second}`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ title: 'Mine' }),
    });
    renamed.resolve();
    const third = await ask('third task');
    await expect.poll(() => titleOf(third)).toBe('Sorting a list');
    expect(await titleOf(second)).toBe('Mine');
    expect(main.asked.some(({ body }) => body.includes('a title of'))).toBe(false);
  });

  it('LM808: are the first words of the task where the small model fails, and no model is asked where there is none', async () => {
    const failing = await endpointOf(() => ({ status: 404, message: 'gone' }));
    const one = await conversing(failing);
    const id = await one.ask('sort this list');
    await expect.poll(() => failing.asked.length).toBe(1);
    expect(await one.titleOf(id)).toBe('sort this list');
    const two = await conversing();
    expect(await two.titleOf(await two.ask('sort that list'))).toBe('sort that list');
    expect(two.main.asked).toHaveLength(1);
  });
});
