/** Every route and socket there is, against every kind of holder: the table of access is what the server does. */
import { request as httpRequest } from 'node:http';
import { describe, expect, it } from 'vitest';
import { itInFull } from '@tendon/testing';
import { allRoutes, type Route } from '../../app/all-routes.test-support.ts';
import { rowOf, type Need } from './access-table.ts';
import { plainClient, socketIoClient, testServer, type TestServer } from '../../server.test-support.ts';

const KEY = 'the-key-of-a-session';

/** The refusal's words, or `served`; only what the guard says counts here. */
function ask(server: TestServer, { method, url }: Route, conversation: string, headers: Record<string, string>): Promise<string> {
  const path = url.replace(':id', conversation).replace(':share', 'x').replace(':eventId', '1').replace('*', 'x');
  return new Promise((resolve, reject) => {
    const sent = httpRequest(server.url + path, { method, headers: { host: 'localhost', ...headers } }, (response) => {
      let body = '';
      response.on('data', (piece: Buffer) => {
        body += piece.toString();
        if (body.length > 2_000) settle();
      });
      const settle = () => {
        const isGuards = response.statusCode === 401 || response.statusCode === 403;
        const detail = isGuards && /Unauthorized|needs a key with the scope|shows one conversation/.exec(body)?.[0];
        // A HEAD has no words.
        resolve(detail || (isGuards && method === 'HEAD') ? 'refused' : 'served');
        response.destroy();
      };
      response.on('end', settle).on('error', () => undefined);
    });
    sent.on('error', reject).end();
  });
}

const LEAST = { public: 0, shared: 1, read: 2, drive: 3, admin: 4 } as const satisfies Record<Need, number>;

/** A server with a key, a conversation, and one holder of each kind. */
async function locked() {
  const server = await testServer({ sessionApiKey: KEY, script: [{ text: 'hello' }] });
  const owner = { 'x-session-api-key': KEY };
  const made = (await (await server.post('/api/conversations', {}, owner)).json()) as { conversation_id: string };
  const key = async (scope: string) =>
    ((await (await server.post('/api/keys', { name: scope, scope }, owner)).json()) as { key: string }).key;
  const share = (await (await server.post(`/api/conversations/${made.conversation_id}/shares`, {}, owner)).json()) as { token: string };
  const keys = { read: await key('read'), drive: await key('drive'), admin: await key('admin') };
  return { server, owner, id: made.conversation_id, keys, share: share.token };
}

describe('SV72: the table of access', () => {
  it('has a row for every route there is', async () => {
    const routes = await allRoutes(await testServer());
    expect(routes.length).toBeGreaterThan(100);
    expect(routes.filter(({ method, url }) => rowOf(method, url) === undefined)).toEqual([]);
  });

  itInFull('SV5 SV72: is what every route does, for nobody, a wrong key, a link, and each scope', async () => {
    const { server, id, keys, share } = await locked();
    const routes = await allRoutes(server);
    const holders: readonly (readonly [string, number, Record<string, string>])[] = [
      ['nobody', 0, {}],
      ['a wrong key', 0, { 'x-session-api-key': 'wrong' }],
      ['a link', 1, { 'x-tendon-share': share }],
      ['read', 2, { 'x-session-api-key': keys.read }],
      ['drive', 3, { 'x-session-api-key': keys.drive }],
      ['admin', 4, { 'x-session-api-key': keys.admin }],
    ];
    for (const [holder, rank, headers] of holders) {
      const expected = routes
        .map((route) => ({ holder, route, heard: rank >= LEAST[rowOf(route.method, route.url)!] ? 'served' : 'refused' }))
        // What is let in is only asked where it changes nothing, and where the words show what refused it.
        .filter(({ route: { method }, heard }) => heard === 'refused' || method === 'GET');
      const found = expected.map(async (row) => ({ ...row, heard: await ask(server, row.route, id, headers) }));
      expect(await Promise.all(found)).toEqual(expected);
    }
  });

  it('lets each scope change what it may', async () => {
    const { server, id, keys } = await locked();
    const by = (key: string) => ({ 'x-session-api-key': key });
    expect((await server.post(`/api/conversations/${id}/message`, { message: 'go' }, by(keys.drive))).status).toBe(200);
    expect((await server.post('/api/settings', { language: 'en' }, by(keys.drive))).status).toBe(403);
    expect((await server.post('/api/settings', { language: 'en' }, by(keys.admin))).status).toBeLessThan(300);
  });

  it('an unknown path says so only to who has a key', async () => {
    const { server, keys } = await locked();
    expect((await server.get('/api/none')).status).toBe(401);
    expect((await server.get('/api/none', { 'x-session-api-key': keys.read })).status).toBe(404);
  });

  it('what old routes pass on stays in its folder', async () => {
    const { server, keys } = await locked();
    const path = '/api/security/..%2f..%2f..%2fsettings';
    expect((await server.post(path, {}, { 'x-session-api-key': keys.drive })).status).toBe(404);
  });
});

describe('SV73: sockets', () => {
  it('refuse nobody, wrong keys and links to something else', async () => {
    const { server, id, keys, share } = await locked();
    const other = '0'.repeat(32);
    for (const query of ['', `?conversation_id=${id}`, '?session_api_key=wrong', `?conversation_id=${id}&share=wrong`]) {
      await expect(plainClient(server, query)).rejects.toThrow('401');
    }
    for (const query of [`?share=${share}`, `?conversation_id=${other}&share=${share}`, `?session_api_key=${keys.read}`]) {
      await expect(plainClient(server, query)).rejects.toThrow('403');
    }
    await expect(socketIoClient(server, { conversation_id: id, share: 'wrong' })).rejects.toThrow('invalid_session_api_key');
    await expect(socketIoClient(server, { conversation_id: other, share })).rejects.toThrow('one conversation');
    await expect(socketIoClient(server, { share })).rejects.toThrow('one conversation');
    await expect(socketIoClient(server, { session_api_key: keys.read })).rejects.toThrow('scope "drive"');
  });

  it.each(['read', 'share'] as const)('%s: everything is seen, nothing can be sent, and nothing is started', async (kind) => {
    const { server, owner, id, keys, share } = await locked();
    const query = { conversation_id: id, ...(kind === 'read' ? { session_api_key: keys.read } : { share }) };
    await server.post(`/api/conversations/${id}/stop`, {}, owner);
    const watcher = await socketIoClient(server, query);
    const text = new URLSearchParams(query).toString();
    const plain = await plainClient(server, `?${text}`);
    for (const client of [watcher, plain]) {
      client.send({ action: 'message', args: { content: 'from a watcher' } });
      await client.frames.until((frame) => JSON.stringify(frame).includes('not act in it'));
    }
    const info = (await (await server.get(`/api/conversations/${id}`, owner)).json()) as { status: string };
    expect(info.status).toBe('STOPPED');

    await server.post(`/api/conversations/${id}/message`, { message: 'from the owner' }, { 'x-session-api-key': keys.drive });
    for (const { frames } of [watcher, plain]) await frames.until((frame) => JSON.stringify(frame).includes('"hello"'));
    expect(JSON.stringify(watcher.frames.all)).not.toContain('from a watcher"');
  });

  it('end with what opened them: a revoked key, a revoked link, the key a link was made with', async () => {
    const { server, owner, id, keys, share } = await locked();
    const driver = await plainClient(server, `?conversation_id=${id}&session_api_key=${keys.drive}`);
    const made = await server.post(`/api/conversations/${id}/shares`, {}, { 'x-session-api-key': keys.drive });
    const { token } = (await made.json()) as { token: string };
    const theirs = await plainClient(server, `?conversation_id=${id}&share=${token}`);
    const ours = await plainClient(server, `?conversation_id=${id}&share=${share}`);
    const { keys: list } = (await (await server.get('/api/keys', owner)).json()) as { keys: { id: string; scope: string }[] };
    const drive = list.find(({ scope }) => scope === 'drive')!.id;
    expect((await fetch(`${server.url}/api/keys/${drive}`, { method: 'DELETE', headers: owner })).status).toBe(200);
    expect([await driver.closed, await theirs.closed]).toEqual([1008, 1008]);
    expect((await server.get('/api/conversations', { 'x-session-api-key': keys.drive })).status).toBe(401);
    expect((await server.get(`/api/conversations/${id}`, { 'x-tendon-share': token })).status).toBe(401);

    const { shares } = (await (await server.get(`/api/conversations/${id}/shares`, owner)).json()) as { shares: { id: string }[] };
    await fetch(`${server.url}/api/conversations/${id}/shares/${shares[0]!.id}`, { method: 'DELETE', headers: owner });
    expect(await ours.closed).toBe(1008);
  });
});
