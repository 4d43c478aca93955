import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { itInFull } from '@tendon/testing';
import { WebSocket } from 'ws';
import { temporaryFolder, testServer, type TestServer } from '../server.test-support.ts';

const KEY = 'the-key-of-a-session';

function form(server: TestServer, key: string, more: { readonly next?: string; readonly headers?: Record<string, string> } = {}) {
  const body = new URLSearchParams({ key, next: more.next ?? '/conversations/abc' });
  return fetch(`${server.url}/login`, { method: 'POST', body, redirect: 'manual', headers: { origin: server.url, ...more.headers } });
}

async function signedIn(server: TestServer, key = KEY): Promise<string> {
  const answer = await form(server, key);
  expect(answer.status).toBe(303);
  return answer.headers.get('set-cookie')!.split(';')[0]!;
}

/** Bound to every address, and reached by a loopback name. */
const open = (more: object = {}) => testServer({ sessionApiKey: KEY, env: { HOST: '0.0.0.0' }, ...more });

describe('SV75: the login page', () => {
  it('stands before the app until the browser has signed in, and loads nothing from another origin', async () => {
    const server = await open();
    const page = await server.get('/conversations/abc?"><script>x');
    expect(page.status).toBe(401);
    const html = await page.text();
    expect(html).toContain('action="/login"');
    expect(html).not.toContain('<script');
    expect(html).not.toMatch(/https?:/);
    expect(page.headers.get('content-security-policy')).toMatch(/default-src 'none'.*form-action 'self'.*frame-ancestors 'none'/);
    // With `no-referrer` a browser would send the form with `Origin: null`.
    expect(page.headers.get('referrer-policy')).toBe('same-origin');
    expect((await server.get('/shared/abc')).status).toBe(200);
    expect((await server.get('/', { 'x-session-api-key': KEY })).status).toBe(200);
    expect(await (await server.get('/', { 'sec-fetch-site': 'cross-site' })).text()).toContain('http-equiv="refresh"');
  });

  it('does not stand there on loopback, where the app asks for itself, and without a key', async () => {
    expect((await (await testServer({ sessionApiKey: KEY })).get('/')).status).toBe(200);
    expect((await (await testServer()).get('/')).status).toBe(200);
  });

  it('takes a key, of the server or made, and leads on within this server only', async () => {
    const server = await open();
    const answer = await form(server, KEY);
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/conversations/abc']);
    expect(answer.headers.get('set-cookie')).toMatch(/^tendon_session=\S+; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Strict$/);
    for (const next of ['//evil.example', '/\\evil.example', 'https://evil.example', ''])
      expect((await form(server, KEY, { next })).headers.get('location')).toBe('/');
    const safe = await form(server, KEY, { headers: { origin: server.url.replace('http:', 'https:') } });
    expect(safe.headers.get('set-cookie')).toMatch(/^__Host-tendon_session=.*; Secure$/);
  });

  it('refuses a wrong key, logs it without the key, and lets nobody try for long', async () => {
    const lines: string[] = [];
    const server = await open({ log: (line: string) => lines.push(line) });
    const statuses: number[] = [];
    for (let n = 0; n < 12; n += 1) statuses.push((await form(server, 'a-wrong-guess')).status);
    expect(statuses.slice(0, 10)).toEqual(Array.from({ length: 10 }, () => 401));
    expect(statuses.at(-1)).toBe(429);
    expect((await form(server, KEY)).headers.get('retry-after')).toMatch(/^\d+$/);
    await server.get('/api/conversations', { 'x-session-api-key': 'a-wrong-guess' });
    await expect.poll(() => lines.join('')).toContain('a wrong key was refused"');
    expect(lines.join('')).not.toContain('a-wrong-guess');
    // Who has the key already is not held up by those who guess.
    expect((await server.get('/api/conversations', { 'x-session-api-key': KEY })).status).toBe(200);
  });
});

describe('SV76: a session', () => {
  const logins = (server: TestServer) => server.engine.access.logins;

  it('reads from its own page, changes with the header too, and opens sockets', async () => {
    const server = await open();
    const cookie = await signedIn(server);
    expect((await server.get('/api/conversations', { cookie })).status).toBe(200);
    expect((await server.get('/', { cookie })).status).toBe(200);
    const own = { cookie, origin: server.url, 'x-tendon-request': '1' };
    const made = (await (await server.post('/api/conversations', {}, own)).json()) as { conversation_id: string };
    const enter = (origin: string) =>
      new Promise<string>((resolve) => {
        const url = `${server.url.replace('http', 'ws')}/ws?conversation_id=${made.conversation_id}`;
        const socket = new WebSocket(url, { headers: { cookie, origin } });
        socket.once('open', () => resolve('open')).once('error', (error) => resolve(error.message));
        socket.once('open', () => socket.close());
      });
    expect(await enter(server.url)).toBe('open');
    expect(await enter('http://localhost:1')).toContain('403');
  });

  it.each([
    ['no origin', {}],
    ['another port of this machine', { origin: 'http://localhost:1', 'x-tendon-request': '1' }],
    ['a site of the same name', { 'sec-fetch-site': 'same-site', 'x-tendon-request': '1' }],
    ['another site', { 'sec-fetch-site': 'cross-site', 'x-tendon-request': '1' }],
    ['a link that was followed', { 'sec-fetch-site': 'none', 'x-tendon-request': '1' }],
  ])('does not count for a change from %s', async (_name, headers: Record<string, string>) => {
    const server = await open();
    const cookie = await signedIn(server);
    expect((await server.post('/api/conversations', {}, { cookie, ...headers })).status).toBe(403);
  });

  it('needs the header for a change, which no form can send', async () => {
    const server = await open();
    const cookie = await signedIn(server);
    expect((await server.post('/api/conversations', {}, { cookie, origin: server.url })).status).toBe(403);
  });

  it('is not read by a page of another port', async () => {
    const server = await open();
    const cookie = await signedIn(server);
    expect((await server.get('/api/conversations', { cookie, origin: 'http://localhost:1' })).status).toBe(403);
  });

  it('ends with signing out, and with the key it was made with', async () => {
    const server = await open();
    const owner = { 'x-session-api-key': KEY };
    const cookie = await signedIn(server);
    const out = await server.post('/api/logout', {}, { cookie, origin: server.url, 'x-tendon-request': '1' });
    expect([out.status, out.headers.get('set-cookie')]).toEqual([204, expect.stringContaining('Max-Age=0') as string]);
    expect((await server.get('/api/conversations', { cookie })).status).toBe(401);

    const { key, id } = (await (await server.post('/api/keys', { name: 'Ada', scope: 'read' }, owner)).json()) as {
      key: string;
      id: string;
    };
    const hers = await signedIn(server, key);
    expect((await server.get('/api/conversations', { cookie: hers })).status).toBe(200);
    expect((await server.get('/api/keys', { cookie: hers })).status).toBe(403);
    await fetch(`${server.url}/api/keys/${id}`, { method: 'DELETE', headers: owner });
    expect((await server.get('/api/conversations', { cookie: hers })).status).toBe(401);
  });

  itInFull('lasts while it is used, and over a restart unless the key of the server changed', async () => {
    const home = temporaryFolder();
    let now = Date.now();
    const clock = { now: () => new Date(now), sleep: () => new Promise<void>(() => undefined) };
    const server = await open({ home, clock });
    const cookie = await signedIn(server);
    now += 5 * 86_400_000;
    expect((await server.get('/api/conversations', { cookie })).headers.get('set-cookie')).toContain(cookie);
    now += 5 * 86_400_000;
    expect((await server.get('/api/conversations', { cookie })).status).toBe(200);
    await server.close();
    const again = await open({ home, clock });
    expect((await again.get('/api/conversations', { cookie })).status).toBe(200);
    await again.close();
    const other = await open({ home, clock, sessionApiKey: 'another-session-key' });
    expect((await other.get('/api/conversations', { cookie })).status).toBe(401);
    await other.close();
    now += 8 * 86_400_000;
    const late = await open({ home, clock });
    expect((await late.get('/api/conversations', { cookie })).status).toBe(401);
    expect(logins(late).list).toEqual([]);
  });

  it('SV70: no file holds a token or a key', async () => {
    const home = temporaryFolder();
    const server = await open({ home });
    const cookie = await signedIn(server);
    const owner = { 'x-session-api-key': KEY };
    const { key } = (await (await server.post('/api/keys', { name: 'Ada', scope: 'read' }, owner)).json()) as { key: string };
    await server.close();
    const stored = readFileSync(join(home, 'tendon.db'), 'latin1');
    expect(stored).toContain('api_keys');
    for (const token of [cookie.split('=')[1]!, key]) expect(stored.includes(token.slice(-43))).toBe(false);
  });
});
