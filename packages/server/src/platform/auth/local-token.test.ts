/** The token of a server on loopback: how a person, a browser and a program come in with it, and what a server without a key says. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { askServer, findServer } from '../server-address.ts';
import { banner } from '../../app/banner.ts';
import { plainClient, socketIoClient, temporaryFolder, testConfig, testServer, type TestServer } from '../../server.test-support.ts';

const LOCAL = { env: { TENDON_LOCAL_TOKEN: '1' } };

function tokenOf(server: TestServer): string {
  const printed = /^Tendon +(\S+)$/m.exec(server.banner)?.[1] ?? '';
  expect(printed).toMatch(new RegExp(`^${server.url}/\\?token=[\\w-]{43}$`));
  return new URL(printed).searchParams.get('token')!;
}

function page(server: TestServer, path: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(server.url + path, { redirect: 'manual', headers: { accept: 'text/html', ...headers } });
}

it('SV490: on loopback it asks for the token of the printed address, at every endpoint, and keeps it over a restart', async () => {
  const home = temporaryFolder();
  const first = await testServer({ home, ...LOCAL });
  const token = tokenOf(first);
  expect(statSync(join(home, 'session-api-key')).mode & 0o777).toBe(0o600);
  expect((await first.get('/api/conversations')).status).toBe(401);
  expect((await first.get('/api/conversations', { 'x-session-api-key': token })).status).toBe(200);
  expect((await first.get(`/api/conversations?session_api_key=${token}`)).status).toBe(200);
  const refused = new WebSocket(`${first.url.replace('http', 'ws')}/ws`);
  expect(await new Promise<string>((resolve) => refused.once('error', ({ message }) => resolve(message)))).toContain('401');
  await expect(socketIoClient(first, {})).rejects.toThrow('invalid_session_api_key');
  const plain = await plainClient(first, `?session_api_key=${token}`);
  await plain.frames.until(({ status }) => status === 'ok', 'the greeting');
  await socketIoClient(first, { session_api_key: token });
  await first.close();
  expect(tokenOf(await testServer({ home, ...LOCAL }))).toBe(token);
});

it('SV490: a command of the same home sends it', async () => {
  const server = await testServer(LOCAL);
  const found = await findServer(testConfig(server.home));
  expect((await askServer(found!, 'GET', '/api/keys', { deadlineMs: 50_000 })).status).toBe(200);
});

it('SV490: a given key is the key, and is not printed', async () => {
  const server = await testServer({ sessionApiKey: 'given-by-the-user', ...LOCAL });
  expect(server.banner).not.toContain('given-by-the-user');
  expect(server.banner).toContain(`${server.url}\n`);
  expect((await server.get('/api/conversations', { 'x-session-api-key': 'given-by-the-user' })).status).toBe(200);
});

it('SV491: a browser comes in by the printed address, which is then gone', async () => {
  const lines: string[] = [];
  const server = await testServer({ ...LOCAL, log: (line) => lines.push(line) });
  const token = tokenOf(server);
  const answer = await page(server, `/conversations/abc?tab=files&token=${token}`);
  expect([answer.status, answer.headers.get('location')]).toEqual([303, '/conversations/abc?tab=files']);
  expect(answer.headers.get('cache-control')).toBe('no-store');
  const cookie = answer.headers.get('set-cookie')!.split(';')[0]!;
  expect(cookie).not.toContain(token);
  expect((await server.get('/api/conversations', { cookie })).status).toBe(200);
  expect((await server.post('/api/conversations', {}, { cookie, origin: server.url, 'x-tendon-request': '1' })).status).toBe(200);
  expect((await server.post('/api/conversations', {}, { cookie, origin: 'http://localhost:1', 'x-tendon-request': '1' })).status).toBe(403);
  expect((await page(server, '/?token=')).headers.get('set-cookie')).toBeNull();
  await expect.poll(() => lines.join('')).toContain('/conversations/abc');
  expect(lines.join('')).not.toContain(token);
});

it('SV491: a browser that has come in by this key keeps its session, and one by a lesser key gets a new one', async () => {
  const server = await testServer(LOCAL);
  const token = tokenOf(server);
  const enter = async (headers?: Record<string, string>) => {
    const { status, headers: answered } = await page(server, `/?token=${token}`, headers);
    return [status, answered.get('location'), answered.get('set-cookie')?.split(';')[0]] as const;
  };
  const [, , cookie = ''] = await enter();
  expect(await enter({ cookie })).toEqual([303, '/', undefined]);
  expect(server.engine.access.logins.list).toHaveLength(1);
  const made = await server.post('/api/keys', { name: 'Ada', scope: 'read' }, { 'x-session-api-key': token });
  const { key } = (await made.json()) as { key: string };
  const hers = (await page(server, `/?token=${key}`)).headers.get('set-cookie')!.split(';')[0]!;
  expect(await enter({ cookie: hers })).toEqual([303, '/', expect.stringContaining('tendon_session=')]);
  expect(await enter({ cookie: 'tendon_session=tendonlogin_gone' })).toEqual([303, '/', expect.stringContaining('tendon_session=')]);
});

it('SV491: a wrong token lets nobody in and does not stay in the address either; on other servers it means nothing', async () => {
  const server = await testServer(LOCAL);
  const wrong = await page(server, '/?token=a-wrong-guess');
  expect([wrong.status, wrong.headers.get('location'), wrong.headers.get('set-cookie')]).toEqual([303, '/', null]);
  // A page of the app, whose own login page is another one.
  expect((await page(server, '/')).status).toBe(200);
  for (const path of ['//evil.example/?token=x', '//?token=x', '/\\evil.example?token=x']) {
    const { status, headers } = await page(server, path);
    expect([status, headers.get('location') ?? '/']).toEqual([status, '/']);
    expect(status).toBeLessThan(500);
  }
  expect((await page(await testServer(), '/?token=x')).status).toBe(200);
  expect(
    (await page(await testServer({ sessionApiKey: 'given-by-the-user' }), '/?token=given-by-the-user')).headers.get('set-cookie'),
  ).toBeNull();
});

it('SV492: without a key its banner says whose it is, more plainly for root', async () => {
  const access = (text: string): string => /^access +(.*)$/m.exec(text)?.[1] ?? '';
  const { engine, ...server } = await testServer();
  expect(access(server.banner)).toMatch(/^no key.* every user and program of this machine can /);
  expect(access((await testServer(LOCAL)).banner)).not.toContain('no key');
  const content = { url: server.url, config: testConfig(server.home), engine, generatedKey: undefined };
  const [asUser, asRoot] = [access(banner({ ...content, isRoot: false })), access(banner({ ...content, isRoot: true }))];
  expect(asUser).not.toContain('root');
  expect(asRoot).toContain('this server is root');
});
