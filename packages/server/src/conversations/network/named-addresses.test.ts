import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished, vi } from 'vitest';
import { plainClient, testServer, type TestServer } from '../../server.test-support.ts';
import { fetchBy } from './fetch-by.ts';

const OWNER_KEY = 'the-key-of-the-owner';
const owner = { 'x-session-api-key': OWNER_KEY };

/** Something near the server, which is asked or is not. */
async function service(): Promise<{ readonly url: string; readonly asked: string[] }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    response.writeHead(403).end('INTERNAL');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

async function keyed(): Promise<{ readonly server: TestServer; readonly driver: Readonly<Record<string, string>> }> {
  const server = await testServer({ sessionApiKey: OWNER_KEY, script: [{ text: 'hello' }] });
  const { key } = (await (await server.post('/api/keys', { name: 'a', scope: 'drive' }, owner)).json()) as { key: string };
  return { server, driver: { 'x-session-api-key': key } };
}

async function refusedIn(server: TestServer, id: string): Promise<readonly { host: string; reason: string }[]> {
  return ((await (await server.get(`/api/conversations/${id}/network`, owner)).json()) as { refused: [] }).refused;
}

const REFUSED = [expect.objectContaining({ host: '127.0.0.1', reason: 'the address is loopback' })];

it('SV351: MCP servers that a key of scope drive names are asked where its agent could ask them', async () => {
  const { server, driver } = await keyed();
  const { url, asked } = await service();
  const body = { mcp_config: { shttp_servers: [{ url: `${url}/mcp` }], sse_servers: [{ url: `${url}/sse` }] }, initial_user_msg: 'go' };
  const made = (await (await server.post('/api/conversations', body, driver)).json()) as { conversation_id: string };
  await vi.waitFor(async () => expect(await refusedIn(server, made.conversation_id)).toEqual(REFUSED), 50_000);
  expect(asked).toEqual([]);
  await server.post('/api/conversations', body, owner);
  await vi.waitFor(() => expect(asked.toSorted()).toEqual(expect.arrayContaining(['GET /sse', 'POST /mcp'])), 50_000);
});

it('SV351: the model that a key of scope drive names is asked where its agent could ask it; an admin names any', async () => {
  const { server, driver } = await keyed();
  const { url, asked } = await service();
  const begin = async (to: TestServer, headers: Readonly<Record<string, string>>): Promise<void> => {
    const client = await plainClient(to, '', headers);
    client.send({ action: 'initialize', args: { LLM_MODEL: 'openai/gpt-4o', LLM_API_KEY: 'own', LLM_BASE_URL: `${url}/v1` } });
    await client.frames.untilState('init');
    client.send({ action: 'message', args: { content: 'go' } });
  };
  await begin(server, driver);
  await vi.waitFor(async () => {
    const { results } = (await (await server.get('/api/conversations', owner)).json()) as { results: { conversation_id: string }[] };
    expect(await refusedIn(server, results[0]!.conversation_id)).toEqual(REFUSED);
  }, 50_000);
  expect(asked).toEqual([]);
  await begin(server, owner);
  await vi.waitFor(() => expect(asked.length).toBeGreaterThan(0), 50_000);
  const before = asked.length;
  await begin(await testServer(), {}); // without a key everybody is the owner
  await vi.waitFor(() => expect(asked.length).toBeGreaterThan(before), 50_000);
});

it('SV351: what is asked so is asked as by any fetch, but follows no redirect', async () => {
  const server = createServer(async (request, response) => {
    if (request.url === '/away') return void response.writeHead(302, { location: '/else' }).end();
    if (request.url === '/none') return void response.writeHead(204).end();
    response.writeHead(200, { 'content-type': 'text/plain', 'set-cookie': ['a=1', 'b=2'] });
    response.write(`${request.method} ${request.headers['x-own']} `);
    request.pipe(response);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { connect } = await import('node:net');
  const send = fetchBy(async (host, port) => {
    const socket = connect(port, host);
    await once(socket, 'connect');
    return socket;
  });
  const answer = await send(`${url}/a?b`, { method: 'POST', headers: { 'x-own': 'yes' }, body: 'the body' });
  expect([answer.status, await answer.text(), answer.headers.getSetCookie()]).toEqual([200, 'POST yes the body', ['a=1', 'b=2']]);
  expect((await send(`${url}/away`)).status).toBe(302);
  expect((await send(`${url}/none`)).body).toBeNull();
  const given = new AbortController();
  given.abort(new Error('given up'));
  await expect(send(url, { signal: given.signal })).rejects.toThrow('given up');
  await expect(fetchBy(() => Promise.reject(new Error('not there')))(url)).rejects.toThrow(
    expect.objectContaining({ message: 'fetch failed', cause: new Error('not there') }),
  );
});

it('SB620: an answer that breaks in the packet of its head fails that fetch alone', async () => {
  const { connect, createServer: createTcpServer } = await import('node:net');
  const server = createTcpServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n'));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const send = fetchBy(async () => {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    return socket;
  });
  for (let asked = 0; asked < 3; asked += 1) {
    await expect(send(`http://127.0.0.1:${port}`).then((answer) => answer.text())).rejects.toThrow(/parse error|aborted/i);
  }
});
