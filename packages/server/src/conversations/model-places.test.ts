/** How many requests a model's endpoint is asked at once by all conversations of a server, and what those who wait can do. */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { Seen } from '../../../../test/support/seen.ts';
import { socketIoClient, testServer, type SocketIoClient, type TestServer } from '../server.test-support.ts';

interface AskedModel {
  /** What the user said last. */
  readonly task: string;
  answer(): void;
  refuse(status: number, headers: Readonly<Record<string, string>>): void;
}

/** An endpoint that answers when it is told to. */
class HeldEndpoint {
  readonly asked = new Seen<AskedModel>();
  /** Requests that it has not answered. */
  open = 0;
  most = 0;
  url = '';

  static async start(): Promise<HeldEndpoint> {
    const endpoint = new HeldEndpoint();
    const server = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      endpoint.#take(Buffer.concat(chunks).toString(), response);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => (server.closeAllConnections(), void server.close()));
    endpoint.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    return endpoint;
  }

  untilAsked(task: string): Promise<AskedModel> {
    return this.asked.until((one) => one.task === task, `a request for ${task}`);
  }

  #take(body: string, response: ServerResponse): void {
    this.open += 1;
    this.most = Math.max(this.most, this.open);
    response.once('close', () => (this.open -= 1));
    this.asked.take({
      task: /job-[a-z]/.exec(body)?.[0] ?? '',
      answer: () => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        const chunk = (delta: object, finish_reason: string | null) =>
          `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'x', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
        response.end(`${chunk({ role: 'assistant', content: 'done' }, null)}${chunk({}, 'stop')}data: [DONE]\n\n`);
      },
      refuse: (status, headers) => void response.writeHead(status, headers).end('{}'),
    });
  }
}

async function serverOf(endpoint: HeldEndpoint, limit: number): Promise<TestServer> {
  const model = { LLM_MODEL: 'openai/x', LLM_API_KEY: 'sk-of-the-tests', LLM_BASE_URL: endpoint.url };
  return testServer({ env: { ...model, LLM_MAX_CONCURRENT_REQUESTS: String(limit) } });
}

/** A conversation with a client, which says its task. */
async function at(server: TestServer, task: string): Promise<SocketIoClient> {
  const client = await socketIoClient(server, { conversation_id: await server.create(), latest_event_id: -1 });
  await client.frames.untilState('awaiting_user_input');
  client.send({ action: 'message', args: { content: task } });
  await client.frames.untilState('running');
  return client;
}

const isWaiting = ({ status_update, message }: Readonly<Record<string, unknown>>): boolean =>
  status_update === true && String(message).startsWith('Waiting for the model');

it('LM95, LM97: further requests wait in order, shown as a status and not as an error, until one ends', async () => {
  const endpoint = await HeldEndpoint.start();
  const server = await serverOf(endpoint, 2);
  const [a, b] = [await at(server, 'job-a'), await at(server, 'job-b')];
  await Promise.all([endpoint.untilAsked('job-a'), endpoint.untilAsked('job-b')]);
  const c = await at(server, 'job-c');
  expect(await c.frames.until(isWaiting)).toMatchObject({ type: 'info', message: expect.stringContaining('2 other requests') });
  const d = await at(server, 'job-d');
  await d.frames.until(isWaiting);
  expect([endpoint.open, endpoint.most]).toEqual([2, 2]);

  (await endpoint.untilAsked('job-b')).answer();
  (await endpoint.untilAsked('job-c')).answer();
  (await endpoint.untilAsked('job-a')).answer();
  (await endpoint.untilAsked('job-d')).answer();
  for (const client of [a, b, c, d]) {
    await client.frames.until((frame) => frame.action === 'message' && frame.source === 'agent');
    expect(client.frames.all.filter(({ observation }) => observation === 'error')).toEqual([]);
  }
  await c.frames.until(({ status_update, message }) => status_update === true && message === '', 'the end of the wait');
  expect([endpoint.most, endpoint.asked.all.length]).toEqual([2, 4]);
});

it('LM96: stopping or pausing who waits ends the wait at once, and the next one moves up', async () => {
  const endpoint = await HeldEndpoint.start();
  const server = await serverOf(endpoint, 1);
  await at(server, 'job-a');
  const first = await endpoint.untilAsked('job-a');
  const [b, c, d] = [await at(server, 'job-b'), await at(server, 'job-c'), await at(server, 'job-d')];
  for (const client of [b, c, d]) await client.frames.until(isWaiting);
  b.send({ action: 'change_agent_state', args: { agent_state: 'stopped' } });
  await b.frames.untilState('stopped');
  c.send({ action: 'change_agent_state', args: { agent_state: 'paused' } });
  await c.frames.untilState('paused');
  expect(endpoint.asked.all).toHaveLength(1);

  first.answer();
  (await endpoint.untilAsked('job-d')).answer();
  c.send({ action: 'change_agent_state', args: { agent_state: 'running' } });
  (await endpoint.untilAsked('job-c')).answer();
  expect(endpoint.asked.all.map(({ task }) => task)).toEqual(['job-a', 'job-d', 'job-c']);
});

it('LM98: who pauses before another attempt holds no place', async () => {
  const endpoint = await HeldEndpoint.start();
  const server = await serverOf(endpoint, 1);
  const a = await at(server, 'job-a');
  const b = await at(server, 'job-b');
  await b.frames.until(isWaiting);
  (await endpoint.untilAsked('job-a')).refuse(429, { 'retry-after': '600' });
  await a.frames.untilState('rate_limited');
  (await endpoint.untilAsked('job-b')).answer();
  await b.frames.until((frame) => frame.action === 'message' && frame.source === 'agent');
  expect(endpoint.asked.all.map(({ task }) => task)).toEqual(['job-a', 'job-b']);
});
