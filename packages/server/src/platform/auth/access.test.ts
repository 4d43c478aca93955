import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { plainClient, socketIoClient, testServer, type TestServer } from '../../server.test-support.ts';

const KEY = 'the-key-of-a-session';

/** Sent as it is: `fetch` sets Host and Origin itself. */
function raw(server: TestServer, path: string, headers: Record<string, string>, method = 'GET'): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(server.url + path, { method, headers, setHost: false }, (response) => {
      response.resume();
      resolve(response.statusCode!);
    });
    sent.on('upgrade', (response) => resolve(response.statusCode!)).on('error', reject);
    sent.end();
  });
}

const host = 'localhost';
const upgrade = {
  connection: 'upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
};
const ENDPOINTS = ['/socket.io/?EIO=4&transport=polling', '/api/conversations'] as const;
const UPGRADES = ['/ws', '/socket.io/?EIO=4&transport=websocket'] as const;

describe('SV5: a key', () => {
  it('opens every endpoint', async () => {
    const server = await testServer({ sessionApiKey: KEY });
    expect((await server.get('/api/conversations', { 'x-session-api-key': KEY })).status).toBe(200);
    expect((await server.get(`/api/conversations?session_api_key=${KEY}`)).status).toBe(200);
    expect((await server.get('/api/conversations', { 'x-session-api-key': 'wrong' })).status).toBe(401);
    expect((await server.get('/')).status).toBe(200);
    await plainClient(server, `?session_api_key=${KEY}`);
    await plainClient(server, '', { 'x-session-api-key': KEY });
    const created = await server.post('/api/conversations', {}, { 'x-session-api-key': KEY });
    const { conversation_id } = (await created.json()) as { conversation_id: string };
    await socketIoClient(server, { conversation_id, session_api_key: KEY });
    await socketIoClient(server, { conversation_id, session_api_key: KEY }, { transports: ['polling'] });
  });

  it('SV157: comes as a bearer too, as scripts for the cloud send it; what is no key there is somebody’s session', async () => {
    const server = await testServer({ sessionApiKey: KEY });
    const asked = async (authorization: string, more = {}) => (await server.get('/api/conversations', { authorization, ...more })).status;
    expect(await asked(`Bearer ${KEY}`)).toBe(200);
    expect(await asked(`bearer ${KEY}`, { 'x-session-api-key': 'null' })).toBe(200);
    expect(await asked('Bearer wrong')).toBe(401);
    expect(await asked(`Bearer ${KEY}`, { 'x-session-api-key': 'wrong' })).toBe(401);
    expect(await asked('Bearer null', { 'x-session-api-key': KEY })).toBe(200);
    const open = await testServer();
    expect((await open.get('/api/conversations', { authorization: 'Bearer sk-of-the-cloud' })).status).toBe(200);
  });

  it('is missed on sockets in the words that clients show', async () => {
    const server = await testServer({ sessionApiKey: KEY });
    await expect(plainClient(server)).rejects.toThrow('401');
    await expect(socketIoClient(server, { conversation_id: 'x', session_api_key: 'null' })).rejects.toThrow('invalid_session_api_key');
    await expect(socketIoClient(server, {})).rejects.toThrow('invalid_session_api_key');
  });

  it('is masked in the log', async () => {
    const lines: string[] = [];
    const server = await testServer({ sessionApiKey: KEY, log: (line) => lines.push(line) });
    await server.get(`/api/conversations?session_api_key=${KEY}`);
    await server.get(`/${KEY}`);
    await expect.poll(() => lines.join('')).toContain('<secret_hidden>');
    expect(lines.join('')).not.toContain(KEY);
  });
});

describe('SV3 SV4: Host and Origin', () => {
  it.each(['evil.example', 'evil.example:3000', 'localhost.evil.example'])('Host %j is refused at every endpoint', async (evil) => {
    const server = await testServer();
    for (const path of [...ENDPOINTS, '/alive', '/']) expect([path, await raw(server, path, { host: evil })]).toEqual([path, 403]);
    for (const path of UPGRADES) expect([path, await raw(server, path, { host: evil, ...upgrade })]).not.toEqual([path, 101]);
  });

  it.each([
    ['http://evil.example', false],
    ['null', false],
    [`http://8000-${'a'.repeat(32)}.localhost:3000`, false],
    ['http://localhost:5173', true],
    ['http://127.0.0.1:1', true],
    ['https://ide.example', true],
  ])('Origin %s: %s', async (origin, isServed) => {
    const server = await testServer({ env: { PERMITTED_CORS_ORIGINS: 'https://ide.example' } });
    for (const path of ENDPOINTS) expect([path, await raw(server, path, { host, origin })]).toEqual([path, isServed ? 200 : 403]);
    for (const path of UPGRADES) expect([path, (await raw(server, path, { host, origin, ...upgrade })) === 101]).toEqual([path, isServed]);
  });

  it('CORS headers and preflights name the origin, never a star', async () => {
    const server = await testServer({ sessionApiKey: KEY });
    const origin = 'http://localhost:5173';
    const asked = { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'x-session-api-key' };
    const preflight = await fetch(`${server.url}/api/conversations`, { method: 'OPTIONS', headers: asked });
    expect([
      preflight.status,
      preflight.headers.get('access-control-allow-origin'),
      preflight.headers.get('access-control-allow-headers'),
    ]).toEqual([204, origin, 'x-session-api-key']);
    const polled = await fetch(`${server.url}/socket.io/?EIO=4&transport=polling`, { headers: { origin } });
    expect(polled.headers.get('access-control-allow-origin')).toBe(origin);
    expect((await server.get('/alive')).headers.get('access-control-allow-origin')).toBeNull();
  });

  it('SV152: a page of an allowed origin can read why it was refused, a foreign one nothing', async () => {
    const server = await testServer({ sessionApiKey: KEY });
    const asked = async (origin: string) => fetch(`${server.url}/api/settings`, { headers: { origin } });
    const refused = await asked('http://localhost:3001');
    expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([401, 'http://localhost:3001']);
    expect(refused.headers.get('access-control-allow-credentials')).toBe('true');
    expect(refused.headers.get('access-control-expose-headers')).toContain('retry-after');
    const foreign = await asked('https://evil.example');
    expect([foreign.status, foreign.headers.get('access-control-allow-origin')]).toEqual([403, null]);
  });
});

it('SV24: a title shows no key, not even the beginning of one', async () => {
  const key = 'a-long-key-that-nobody-may-see-0123456789';
  const server = await testServer({ env: { LLM_API_KEY: key }, script: [{ text: 'done' }] });
  await server.create({ initial_user_msg: `please use the key that I have for you: ${key}` });
  await expect.poll(async () => (await server.get('/api/conversations')).text()).toContain('please use');
  expect(await (await server.get('/api/conversations')).text()).not.toContain('a-long');
});

it.each([
  ['two Host headers, the right one first', '/', 'Host: localhost\r\nHost: evil.example'],
  ['two Host headers, the right one last', '/', 'Host: evil.example\r\nHost: localhost'],
  ['another host in the request line', 'http://evil.example/', 'Host: localhost'],
  ['another port in the request line', 'http://localhost:1/', 'Host: localhost'],
])('SV93: a request with %s is refused, at every endpoint', async (_what, prefix, hosts) => {
  const { port } = new URL((await testServer()).url);
  const ask = async (path: string, more: string): Promise<string> => {
    const socket = connect(Number(port), '127.0.0.1');
    socket.write(`GET ${prefix}${path} HTTP/1.1\r\n${hosts}\r\n${more}\r\n\r\n`);
    return (await text(socket)).split('\r\n', 1)[0]!;
  };
  const upgrading = 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==';
  for (const path of ['api/conversations', 'alive', 'socket.io/?EIO=4&transport=polling'])
    expect([path, await ask(path, 'Connection: close')]).toEqual([path, expect.stringMatching(/ 40[034] /) as string]);
  for (const path of ['ws', 'socket.io/?EIO=4&transport=websocket'])
    expect([path, await ask(path, upgrading)]).toEqual([path, expect.stringMatching(/ 40[034] /) as string]);
});

it('SV493: a page that a sandbox serves at a published port reads nothing here, and no socket opens for it', async () => {
  const server = await testServer({ env: { SANDBOX_PORTS: '127.0.0.1:3001:3000' } });
  const origin = 'http://localhost:3001';
  const answer = await server.get('/api/conversations', { origin });
  expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([403, null]);
  expect((await server.get('/api/conversations', { origin: 'http://localhost:5173' })).status).toBe(200);
  await expect(plainClient(server, '', { origin })).rejects.toThrow('403');
  await expect(socketIoClient(server, {}, { extraHeaders: { origin } })).rejects.toThrow('websocket error');
});
