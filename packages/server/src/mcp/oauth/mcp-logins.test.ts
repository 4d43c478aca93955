import { createMemoryStorage } from '@tendon/core/storage';
import { Secret } from '@tendon/protocol/masking';
import { expect, it } from 'vitest';
import { seal, unseal } from '../../platform/auth/stored-secret.ts';
import { systemClock } from '../../platform/system-clock.ts';
import { testServer, type TestServer } from '../../server.test-support.ts';
import { loginServer, type LoginServer } from './login-server.test-support.ts';
import { McpLogins } from './mcp-logins.ts';

const REDIRECT = 'http://127.0.0.1:1/mcp/oauth/callback';

/** Logins in a store of their own, with a clock that is set by hand. */
async function logins() {
  const { records } = createMemoryStorage({ clock: systemClock });
  const clock = { ms: 1_000_000, now: () => new Date(clock.ms), sleep: systemClock.sleep };
  const open = () => McpLogins.open({ records, jwtSecret: new Secret('a-jwt-secret'), clock, onChange: () => undefined });
  return { records, clock, open, logins: await open() };
}

async function logIn(to: LoginServer, { begin, finish }: { begin: McpLogins['begin']; finish: McpLogins['finish'] }) {
  const back = new URL(await to.permit(await begin({ url: to.mcp, redirect: REDIRECT }, undefined)));
  const { state = '', code, iss } = Object.fromEntries(back.searchParams);
  return { state, code, iss, finish: (changed: object = {}) => finish({ state, code, iss, ...changed }) };
}

const bound = (to: McpLogins) => ({ begin: to.begin.bind(to), finish: to.finish.bind(to) });
const statusOf = async (to: McpLogins, server: LoginServer): Promise<number> => {
  const answer = await to.fetchFor(server.mcp)!(server.mcp, { method: 'POST', body: '{}' });
  await answer.body?.cancel();
  return answer.status;
};

it('EN900: a person logs in with PKCE, and the tokens go to the server they are for alone', async () => {
  const server = await loginServer();
  const { logins: all, open } = await logins();
  expect(all.fetchFor(server.mcp)).toBeUndefined();
  const { finish } = await logIn(server, bound(all));
  expect(await finish()).toBe(server.mcp);
  expect(await statusOf(all, server)).not.toBe(401);
  expect(await statusOf(await open(), server)).not.toBe(401);
  const other = await loginServer();
  const seen: (string | null)[] = [];
  const send = ((_url: string, init?: RequestInit) => {
    seen.push(new Headers(init?.headers).get('authorization'));
    return Promise.resolve(new Response(null));
  }) as typeof fetch;
  await all.fetchFor(server.mcp, send)!(other.mcp, { method: 'POST' });
  await all.fetchFor(server.mcp, send)!(server.mcp, { method: 'POST' });
  expect(seen).toEqual([null, expect.stringMatching(/^Bearer access-/)]);
  expect(server.refusals).toEqual([]);
});

it('EN901: a state counts once, for ten minutes, in the browser that began, with the issuer that was asked', async () => {
  const server = await loginServer();
  const { logins: all, clock } = await logins();
  const first = await logIn(server, bound(all));
  await expect(first.finish({ state: 'x'.repeat(43) })).rejects.toThrow('not under way');
  await expect(first.finish({ browser: 'another' })).rejects.toThrow('not under way');
  await expect(first.finish({ iss: 'https://evil.example' })).rejects.toThrow('another authorization server');
  await expect(first.finish()).rejects.toThrow('not under way');
  const second = await logIn(server, bound(all));
  await expect(second.finish({ iss: undefined })).rejects.toThrow('another authorization server');
  const denied = await logIn(server, bound(all));
  await expect(denied.finish({ code: undefined })).rejects.toThrow('not permitted');
  const late = await logIn(server, bound(all));
  clock.ms += 10 * 60_000;
  await expect(late.finish()).rejects.toThrow('took too long');
  const forged = await logIn(server, bound(all));
  await expect(forged.finish({ code: 'another-code' })).rejects.toThrow(/^127\.0\.0\.1:\d+ refused the login with the status 400$/);
  expect(all.secrets).toEqual([]);
});

it('EN902: a token is renewed before it ends and when it is refused, once for all who wait, and never twice with one refresh token', async () => {
  const server = await loginServer({ expiresIn: 3600 });
  const { logins: all, clock } = await logins();
  await (await logIn(server, bound(all))).finish();
  server.access.clear();
  expect(await Promise.all(Array.from({ length: 8 }, () => statusOf(all, server)))).not.toContain(401);
  expect(server.refreshes).toBe(1);
  clock.ms += 3600_000;
  expect(await Promise.all(Array.from({ length: 8 }, () => statusOf(all, server)))).not.toContain(401);
  expect([server.refreshes, server.refusals]).toEqual([2, []]);
});

it('SV1262: servers over one storage renew a token once for all of them, and each has what came of it', async () => {
  const server = await loginServer();
  const { logins: one, open } = await logins();
  await (await logIn(server, bound(one))).finish();
  const other = await open();
  server.access.clear();
  const answers = await Promise.all([one, other, one, other].map((each) => statusOf(each, server)));
  expect([answers.includes(401), server.refreshes, server.refusals]).toEqual([false, 1, []]);
  server.access.clear();
  server.refresh.clear();
  expect(await Promise.all([statusOf(one, server), statusOf(other, server)])).toEqual([401, 401]);
  expect([one.madeAt(server.mcp), other.madeAt(server.mcp)]).toEqual([undefined, undefined]);
});

it('SV1262: a renewal that a server did not end is taken over when its time is over', async () => {
  const server = await loginServer();
  const { logins: one, open, clock, records } = await logins();
  await (await logIn(server, bound(one))).finish();
  server.access.clear();
  const [{ id, value } = { id: '', value: '' }] = await records.list<string>('mcp-logins');
  const jwtSecret = new Secret('a-jwt-secret');
  const login = JSON.parse(unseal(value, jwtSecret)!) as object;
  const renewal = { by: 'a server that was killed', until: clock.ms + 30_000 };
  await records.put('mcp-logins', { id, sort: id, value: seal(JSON.stringify({ ...login, renewal }), jwtSecret) });
  const asked = statusOf(await open(), server);
  clock.ms += 30_000;
  expect([await asked, server.refreshes]).toEqual([expect.not.toSatisfy((status) => status === 401), 1]);
});

it('EN902: where the refresh is refused, a person logs in again; where it cannot be asked, it is asked again', async () => {
  const server = await loginServer();
  const { logins: all } = await logins();
  await (await logIn(server, bound(all))).finish();
  const [client] = [...server.clients.keys()].slice(-1);
  server.access.clear();
  server.refresh.clear();
  expect(await statusOf(all, server)).toBe(401);
  expect(all.madeAt(server.mcp)).toBeUndefined();
  expect(all.fetchFor(server.mcp)).toBeUndefined();
  await (await logIn(server, bound(all))).finish();
  expect(await statusOf(all, server)).not.toBe(401);
  expect([...server.clients.keys()].slice(-1)).toEqual([client]);
});

const UNFIT = [
  ['no PKCE', { metadata: { code_challenge_methods_supported: undefined } }, 'does not support PKCE'],
  ['another issuer', { metadata: { issuer: 'https://evil.example' } }, 'names itself otherwise'],
  ['a login page without TLS on another machine', { metadata: { authorization_endpoint: 'http://localhost:1/x' } }, 'no https address'],
  [
    'a registration without TLS on another machine',
    { metadata: { registration_endpoint: 'http://169.254.169.254/x' } },
    '169.254.169.254, which is no https',
  ],
  ['no registration', { registers: false }, 'give its client_id'],
] as const;

it.each(UNFIT)('EN903: a login does not begin with %s', async (_what, options, words) => {
  const server = await loginServer(options);
  const { logins: all } = await logins();
  await expect(all.begin({ url: server.mcp, redirect: REDIRECT }, undefined)).rejects.toThrow(words);
});

const settle = (server: TestServer, url: string) => server.post('/api/settings', { mcp_config: { shttp_servers: [{ url }] } });

it('EN904: over REST a person is led there and back; nothing but the two servers ever has a token', async () => {
  const lines: string[] = [];
  const server = await testServer({ log: (line) => lines.push(line) });
  const there = await loginServer();
  await settle(server, there.mcp);
  const state = async () => ((await (await server.get('/api/mcp/logins')).json()) as { servers: { state: string }[] }).servers[0]?.state;
  expect(await state()).toBe('logged_out');
  const begun = (await (await server.post('/api/mcp/logins', { server: '127_0_0_1' })).json()) as { authorization_url: string };
  const back = await there.permit(begun.authorization_url);
  expect(back.startsWith(`${server.url}/mcp/oauth/callback?`)).toBe(true);
  const page = await fetch(back);
  expect([page.status, (await page.text()).includes('You are logged in')]).toEqual([200, true]);
  expect([(await fetch(back)).status, await state()]).toEqual([400, 'logged_in']);
  const shown = await Promise.all(['/api/mcp/logins', '/api/settings'].map(async (path) => (await server.get(path)).text()));
  const everything = [...shown, ...lines].join('\n');
  expect(there.tokens.filter((token) => everything.includes(token))).toEqual([]);
  expect(server.engine.secrets().map((secret) => secret.reveal())).toEqual(expect.arrayContaining([...there.tokens]));
  const ended = await fetch(`${server.url}/api/mcp/logins?server=${encodeURIComponent(there.mcp)}`, { method: 'DELETE' });
  expect([ended.status, await state()]).toEqual([200, 'logged_out']);
});

it('EN904: a login to what the settings do not name, or have a key for, does not begin', async () => {
  const server = await testServer();
  await server.post('/api/settings', { mcp_config: { shttp_servers: [{ url: 'http://127.0.0.1:1/mcp', api_key: 'a-key-of-tools' }] } });
  for (const [named, words] of [
    ['nobody', 'name no such MCP server'],
    ['127_0_0_1', 'has an api_key'],
  ]) {
    const answer = await server.post('/api/mcp/logins', { server: named });
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining(words!) as string]);
  }
});

it('EN901: what a signed-in browser began is finished in no other', async () => {
  const KEY = 'the-key-of-a-session';
  const server = await testServer({ sessionApiKey: KEY });
  const there = await loginServer();
  const own = { 'x-session-api-key': KEY };
  await server.post('/api/settings', { mcp_config: { shttp_servers: [there.mcp] } }, own);
  const signedIn = await fetch(`${server.url}/login`, { method: 'POST', redirect: 'manual', body: new URLSearchParams({ key: KEY }) });
  const cookie = signedIn.headers.get('set-cookie')!.split(';')[0]!;
  const headers = { cookie, origin: server.url, 'x-tendon-request': '1' };
  const begin = await server.post('/api/mcp/logins', { server: there.mcp }, headers);
  const { authorization_url } = (await begin.json()) as { authorization_url: string };
  const back = await there.permit(authorization_url);
  expect((await fetch(back)).status).toBe(400);
  const own_browser = begin.headers.get('set-cookie')!.split(';')[0]!;
  expect((await fetch(back, { headers: { cookie: own_browser } })).status).toBe(200);
});
