/** Two organisations on one server: whatever one asks for, by whatever route or socket, is as if the other one had nothing. */
import { describe, expect, it } from 'vitest';
import type { KeyInfo, UserInfo } from '@tendon/protocol';
import { itInFull, waitFor } from '@tendon/testing';
import { WebSocket } from 'ws';
import { allRoutes } from '../app/all-routes.test-support.ts';
import { namesConversation, reachOf, rowOf } from '../platform/auth/access-table.ts';
import { plainClient, socketIoClient, testServer, type TestServer } from '../server.test-support.ts';
import { Browser, testProvider, type Account, type TestProvider } from './oidc.test-support.ts';

const OWNER = { 'x-session-api-key': 'the-key-of-the-server' };
const SECRET_WORDS = 'walrus-of-acme';
const person = (name: string, ...groups: string[]): Account => ({ name, email: `${name}@example.org`, email_verified: true, groups });
const ACCOUNTS = {
  ada: person('Ada', 'acme-admins'),
  carl: person('Carl', 'acme'),
  vera: person('Vera', 'acme-guests'),
  bob: person('Bob', 'labs-admins'),
};
const ROLES = 'acme-admins=acme:admin,acme=acme:member,acme-guests=acme:viewer,labs-admins=labs:admin';
type Name = keyof typeof ACCOUNTS;

interface Staged {
  readonly server: TestServer;
  readonly provider: TestProvider;
  /** The key of a person, as much as they may. */
  readonly as: Readonly<Record<Name, Record<string, string>>>;
}

async function staged(env: Record<string, string> = {}): Promise<Staged> {
  const provider = await testProvider(ACCOUNTS);
  const started = await testServer({
    sessionApiKey: OWNER['x-session-api-key'],
    env: { ...provider.env, OIDC_ROLES: ROLES, ...env },
    script: [{ text: `the agent knows the ${SECRET_WORDS}` }, { text: 'again' }, { text: 'and again' }],
  });
  const server = { ...started, url: started.url.replace('localhost', '127.0.0.1') };
  const scopes = { ada: 'admin', carl: 'drive', vera: 'read', bob: 'admin' } as const;
  const as = {} as Record<Name, Record<string, string>>;
  for (const name of Object.keys(ACCOUNTS) as Name[]) {
    const browser = new Browser(name);
    await browser.get(`${server.url}/login/oidc`);
    const answer = await server.post('/api/keys', { name: `of ${name}`, scope: scopes[name] }, browser.headers(server.url));
    as[name] = { 'x-session-api-key': ((await answer.json()) as { key: string }).key };
  }
  return { server, provider, as };
}

/** A conversation of Carl's, in which an agent has answered. */
async function conversationOf({ server, as }: Staged, by: Name = 'carl'): Promise<string> {
  const made = await server.post('/api/conversations', { initial_user_msg: `find the ${SECRET_WORDS}` }, as[by]);
  const { conversation_id: id } = (await made.json()) as { conversation_id: string };
  await expect
    .poll(async () => (await (await server.get(`/api/conversations/${id}`, as[by])).json()) as object, { timeout: 10_000 })
    .toMatchObject({ agent_state: 'awaiting_user_input' });
  return id;
}

interface Body extends Record<'key' | 'id' | 'token' | 'conversation_id', string> {
  readonly results: readonly unknown[];
  readonly hits: readonly { readonly conversation_id: string }[];
  readonly triggers: readonly unknown[];
  readonly users: readonly UserInfo[];
  readonly keys: readonly KeyInfo[];
  readonly events: readonly { readonly action?: string; readonly source: string; readonly author: { readonly name: string } }[];
}
const json = async (answer: Response): Promise<Body> => (await answer.json()) as Body;

describe('SV1310: a conversation', () => {
  itInFull('of another organisation is answered by every route like one that does not exist', async () => {
    const stage = await staged();
    const { server, as } = stage;
    const id = await conversationOf(stage);
    await server.post(`/api/conversations/${id}/shares`, {}, as.carl);
    const trigger = await json(await server.post('/api/triggers', { name: SECRET_WORDS, kind: 'webhook', prompt: 'x' }, as.ada));
    const nothing = '0'.repeat(32);
    const routes = (await allRoutes(server)).filter(
      ({ url, method }) => rowOf(method, url) !== 'public' && !/HEAD|TRACE|CONNECT/.test(method),
    );
    expect(routes.length).toBeGreaterThan(120);
    const leaks: string[] = [];
    for (const { method, url } of routes) {
      const at = (conversation: string) =>
        server.url +
        url
          .replace(':id', url.startsWith('/api/triggers') ? trigger.id : url.startsWith('/api/secrets') ? 'NAME' : conversation)
          .replace(/:\w+/g, '1')
          .replace('*', 'x');
      const ask = (conversation: string, by: Record<string, string>) =>
        fetch(at(conversation), {
          method,
          headers: { ...by, ...(method !== 'GET' && { 'content-type': 'application/json' }) },
          ...(method !== 'GET' && { body: '{}' }),
          signal: AbortSignal.timeout(20_000),
        });
      const answer = await ask(id, as.bob);
      const text = await answer.text();
      const name = `${method} ${url}`;
      if (namesConversation(url)) {
        const expected = reachOf(method, url) === 'server' ? 403 : 404;
        if (answer.status !== expected) leaks.push(`${name} is answered ${answer.status}`);
        const absent = await ask(nothing, as.bob);
        if (absent.status !== answer.status || (await absent.text()).replaceAll(nothing, id) !== text)
          leaks.push(`${name} differs from what does not exist`);
      } else if (text.includes(id) || text.includes(SECRET_WORDS) || text.includes('Carl') || text.includes('acme')) {
        leaks.push(`${name} shows ${text.slice(0, 200)}`);
      }
      if (url.startsWith('/api/triggers/:id') && answer.status !== 404) leaks.push(`${name} is answered ${answer.status}`);
    }
    expect(leaks).toEqual([]);
    // Whose it is has lost nothing.
    expect(await json(await server.get(`/api/conversations/${id}`, as.carl))).toMatchObject({
      conversation_id: id,
      created_by: { name: 'Carl' },
    });
    expect((await json(await server.get('/api/triggers', as.ada))).triggers).toHaveLength(1);
  });

  itInFull('is opened by no socket of another organisation, whatever its dialect', async () => {
    const stage = await staged();
    const { server, as } = stage;
    const id = await conversationOf(stage);
    const key = as.bob['x-session-api-key']!;
    const mine = as.carl['x-session-api-key']!;
    await expect(socketIoClient(server, { conversation_id: id, session_api_key: key })).rejects.toThrow('not found');
    await expect(socketIoClient(server, { conversation_id: id, session_api_key: key, dialect: 'events-doc' })).rejects.toThrow('not found');
    await expect(socketIoClient(server, { session_api_key: key }, { auth: { pid: id, offset: '0' } })).rejects.toThrow('not found');
    const plain = await plainClient(server, `?conversation_id=${id}&session_api_key=${key}`);
    expect(await plain.closed).toBe(1008);
    expect(JSON.stringify(plain.frames.all)).not.toContain(SECRET_WORDS);
    const shell = new WebSocket(`${server.url.replace('http', 'ws')}/shell?conversation_id=${id}&session_api_key=${key}`);
    const sent: string[] = [];
    shell.on('message', (data: Buffer) => sent.push(data.toString()));
    await waitFor(new Promise((resolve) => shell.on('close', resolve)), () => 'the end of the shell');
    expect(sent.join()).toContain('not found');
    // Those of 2024 name a conversation by a token that the server has signed.
    const own = await plainClient(server, `?session_api_key=${mine}`);
    const { token } = (await own.frames.until((frame) => frame.token !== undefined)) as unknown as { token: string };
    own.send({ action: 'initialize', args: {} });
    own.send({ action: 'start', args: { task: `find the ${SECRET_WORDS}` } });
    await own.frames.until((frame) => JSON.stringify(frame).includes(SECRET_WORDS));
    const stolen = await plainClient(server, `?token=${token}&session_api_key=${key}`);
    await stolen.closed;
    expect(JSON.stringify(stolen.frames.all)).not.toContain(SECRET_WORDS);
    for (const path of ['/api/messages', '/api/plan', '/api/list-files', '/api/events/search', '/api/conversation']) {
      const answer = await server.get(path, { ...as.bob, authorization: `Bearer ${token}` });
      expect([path, await answer.text()]).not.toEqual([path, expect.stringContaining(SECRET_WORDS)]);
    }
    const inBand = await socketIoClient(server, { session_api_key: mine });
    const tokens: { token?: string }[] = [];
    inBand.socket.on('oh_event', (frame: { token?: string }) => tokens.push(frame));
    inBand.send({ action: 'initialize', args: {} });
    await expect.poll(() => tokens.find((one) => one.token)).toBeDefined();
    const thief = await socketIoClient(server, { session_api_key: key });
    thief.send({ action: 'initialize', args: {}, token: tokens.find((one) => one.token)!.token });
    await thief.frames.until((frame) => frame.error_code === 401 || JSON.stringify(frame).includes('Invalid token'));
  });

  itInFull('is found by nobody of another organisation', async () => {
    const stage = await staged();
    const { server, as } = stage;
    const id = await conversationOf(stage);
    const found = await json(await server.get(`/api/search?query=${SECRET_WORDS}`, as.carl));
    expect(found.hits.map((hit) => hit.conversation_id)).toEqual([id]);
    expect((await json(await server.get(`/api/search?query=${SECRET_WORDS}`, as.bob))).hits).toEqual([]);
  });

  it('works in a folder of its own, whatever a user names', async () => {
    const stage = await staged();
    const { server, as } = stage;
    const id = await conversationOf(stage);
    const { workspace } = (await server.engine.conversations.get(id))!;
    expect(workspace.endsWith(id)).toBe(true);
    for (const directory of [workspace, server.home, '/tmp', '../']) {
      const answer = await server.post('/api/conversations', { directory }, as.bob);
      expect([directory, answer.status]).toEqual([directory, 403]);
    }
  });

  it('that was there before, or is of nobody’s key, is for those who administer the server', async () => {
    const stage = await staged();
    const { server, as } = stage;
    const { conversation_id: id } = await json(await server.post('/api/conversations', {}, OWNER));
    expect((await server.get(`/api/conversations/${id}`, as.ada)).status).toBe(404);
    expect((await json(await server.get('/api/conversations', as.ada))).results).toEqual([]);
    expect((await json(await server.get('/api/conversations', OWNER))).results).toHaveLength(1);
  });
});

describe('SV1311: a role', () => {
  it('decides who watches, drives and administers what is the organisation’s', async () => {
    const stage = await staged();
    const { server, as } = stage;
    const id = await conversationOf(stage);
    const statusesOf = async (ask: (by: Record<string, string>) => Promise<Response>) => {
      const answers = [await ask(as.vera), await ask(as.carl), await ask(as.ada)];
      return answers.map(({ status }) => status);
    };
    expect(await statusesOf((by) => server.get(`/api/conversations/${id}/events`, by))).toEqual([200, 200, 200]);
    expect(await statusesOf((by) => server.post(`/api/conversations/${id}/message`, { message: 'go' }, by))).toEqual([403, 200, 200]);
    expect(await statusesOf((by) => server.post('/api/triggers', { name: 't', kind: 'webhook', prompt: 'x' }, by))).toEqual([
      403, 403, 201,
    ]);
    expect(await statusesOf((by) => server.get('/api/users', by))).toEqual([403, 403, 200]);
    expect(await statusesOf((by) => server.post('/api/settings', { language: 'en' }, by))).toEqual([403, 403, 403]);
    expect(await statusesOf((by) => server.get('/api/secrets?owner=server', by))).toEqual([403, 403, 403]);
    const watcher = await plainClient(server, `?conversation_id=${id}&session_api_key=${as.vera['x-session-api-key']}`);
    watcher.send({ action: 'message', args: { content: 'from a viewer' } });
    await watcher.frames.until((frame) => JSON.stringify(frame).includes('not act in it'));
  });

  it('of an owner is given by owners, and those whom OIDC_ADMINS names administer the server', async () => {
    const provider = await testProvider({ ada: person('Ada'), bob: person('Bob') });
    const server = await testServer({
      sessionApiKey: OWNER['x-session-api-key'],
      env: { ...provider.env, OIDC_ADMINS: 'ada@example.org' },
    });
    const at = server.url.replace('localhost', '127.0.0.1');
    const [ada, bob] = [new Browser('ada'), new Browser('bob')];
    for (const browser of [ada, bob]) await browser.get(`${at}/login/oidc`);
    const ask = (browser: Browser, method: string, path: string, body?: object) =>
      fetch(at + path, {
        method,
        headers: { ...browser.headers(at), 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      });
    const { users } = await json(await ask(ada, 'GET', '/api/users'));
    expect(users.map(({ name, administers_server: does, organisations: [one] }) => [name, does, one!.role])).toEqual([
      ['Ada', true, 'owner'],
      ['Bob', false, 'member'],
    ]);
    const [adas, bobs] = users.map(({ id }) => id);
    expect((await ask(bob, 'PATCH', `/api/users/${bobs}`, { role: 'admin' })).status).toBe(403);
    expect((await ask(ada, 'PATCH', `/api/users/${bobs}`, { role: 'admin' })).status).toBe(200);
    expect((await ask(bob, 'PATCH', `/api/users/${bobs}`, { role: 'owner' })).status).toBe(409);
    expect((await ask(bob, 'PATCH', `/api/users/${adas}`, { disabled: true })).status).toBe(403);
    expect((await ask(ada, 'PATCH', `/api/users/${adas}`, { disabled: true })).status).toBe(409);
    expect((await ask(ada, 'POST', '/api/settings', { language: 'en' })).status).toBeLessThan(300);
    expect((await ask(bob, 'POST', '/api/settings', { language: 'en' })).status).toBe(403);
  });
});

it('SV1312: a private conversation is seen by who began it and by admins, in lists and searches too', async () => {
  const stage = await staged();
  const { server, as } = stage;
  const id = await conversationOf(stage);
  const change = (by: Name, body: object) =>
    fetch(`${server.url}/api/conversations/${id}`, {
      method: 'PATCH',
      headers: { ...as[by], 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  expect((await server.get(`/api/conversations/${id}`, as.vera)).status).toBe(200);
  expect((await change('carl', { is_private: true })).status).toBe(200);
  const listed = async (by: Name) => (await json(await server.get('/api/conversations', as[by]))).results.length;
  expect([await listed('carl'), await listed('ada'), await listed('vera')]).toEqual([1, 1, 0]);
  expect((await server.get(`/api/conversations/${id}`, as.vera)).status).toBe(404);
  expect((await json(await server.get(`/api/search?query=${SECRET_WORDS}`, as.vera))).hits).toEqual([]);
  expect((await change('ada', { is_private: false })).status).toBe(200);
  expect(await listed('vera')).toBe(1);
});

itInFull('SV1313: a disabled user is out at once: sessions, keys, links and sockets, and a login leads nowhere', async () => {
  const stage = await staged();
  const { server, as } = stage;
  const id = await conversationOf(stage);
  const share = await json(await server.post(`/api/conversations/${id}/shares`, {}, as.carl));
  const socket = await plainClient(server, `?conversation_id=${id}&session_api_key=${as.carl['x-session-api-key']}`);
  const guest = await plainClient(server, `?conversation_id=${id}&share=${share.token}`);
  const browser = new Browser('carl');
  await browser.get(`${server.url}/login/oidc`);
  const { users } = await json(await server.get('/api/users', as.ada));
  expect(users.map(({ name }) => name)).toEqual(['Ada', 'Carl', 'Vera']);
  const carl = users[1]!.id;
  const disable = (disabled: boolean) =>
    fetch(`${server.url}/api/users/${carl}`, {
      method: 'PATCH',
      headers: { ...as.ada, 'content-type': 'application/json' },
      body: JSON.stringify({ disabled }),
    });
  expect((await disable(true)).status).toBe(200);
  expect([await socket.closed, await guest.closed]).toEqual([1008, 1008]);
  expect((await server.get('/api/conversations', as.carl)).status).toBe(401);
  expect((await server.get('/api/conversations', browser.headers(server.url))).status).toBe(401);
  expect((await server.get(`/api/conversations/${id}`, { 'x-tendon-share': share.token })).status).toBe(401);
  const page = await new Browser('carl').get(`${server.url}/login/oidc`);
  expect([page.status, await page.text()]).toEqual([403, expect.stringContaining('Your account was disabled')]);
  expect((await json(await server.get('/api/keys', OWNER))).keys.map(({ name }) => name)).not.toContain('of carl');
  await disable(false);
  // What was revoked stays so; they sign in anew.
  expect((await server.get('/api/conversations', as.carl)).status).toBe(401);
  const again = new Browser('carl');
  await again.get(`${server.url}/login/oidc`);
  expect((await server.get('/api/whoami', again.headers(server.url))).status).toBe(200);
});

it('SV1314: a user has the keys that they made, and none opens more than they may', async () => {
  const stage = await staged();
  const { server, as } = stage;
  const browser = new Browser('carl');
  await browser.get(`${server.url}/login/oidc`);
  const headers = browser.headers(server.url);
  const { keys } = await json(await server.get('/api/keys', headers));
  expect(keys.map(({ name, user }) => [name, user!.name])).toEqual([['of carl', 'Carl']]);
  expect((await server.post('/api/keys', { name: 'too much', scope: 'admin' }, headers)).status).toBe(403);
  // Who has found one of their keys makes no other with it.
  expect((await server.post('/api/keys', { name: 'another', scope: 'read' }, as.carl)).status).toBe(403);
  const [adas] = (await json(await server.get('/api/keys', as.ada))).keys;
  expect((await fetch(`${server.url}/api/keys/${adas!.id}`, { method: 'DELETE', headers })).status).toBe(404);
  expect((await fetch(`${server.url}/api/keys/${keys[0]!.id}`, { method: 'DELETE', headers })).status).toBe(200);
  expect((await server.get('/api/conversations', as.carl)).status).toBe(401);
});

it('SV1300: who did what is in the events, on every wire, and in exports', async () => {
  const stage = await staged();
  const { server, as } = stage;
  const id = await conversationOf(stage);
  const socket = await socketIoClient(server, { conversation_id: id, session_api_key: as.ada['x-session-api-key']! });
  socket.send({ action: 'message', args: { content: 'from Ada', author: { id: 'x', name: 'Eve' } }, author: { id: 'x', name: 'Eve' } });
  const frame = await socket.frames.until((one) => one.message === 'from Ada' && one.source === 'user');
  expect(frame).toMatchObject({ author: { name: 'Ada' } });
  const { events } = await json(await server.get(`/api/conversations/${id}/events`, as.vera));
  expect(events.filter((one) => one.action === 'message' && one.source === 'user').map(({ author }) => author.name)).toEqual([
    'Carl',
    'Ada',
  ]);
  const exported = await (await server.get(`/api/conversations/${id}/trajectory`, as.vera)).text();
  expect(exported).toContain('"author":{"id"');
});

it('SV1378: an organisation sees what it uses, and not what all together do', async () => {
  const { server, as } = await staged({ TENDON_USD_PER_DAY: '5' });
  for (const name of ['ada', 'carl', 'bob'] as const) {
    const answer = await server.get('/api/limits/mine', as[name]);
    const { limits, server: ofServer } = (await answer.json()) as { limits: readonly { scope: string }[]; server: object };
    const organisation = name === 'bob' ? 'labs' : 'acme';
    expect(limits.map(({ scope }) => scope.replace(/^user:.*/, 'user'))).toEqual([`organisation:${organisation}`, 'user']);
    expect(ofServer).toEqual({ limited: ['usd_per_day'], reached: [] });
  }
});
