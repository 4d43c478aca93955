import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { itInFull } from '@tendon/testing';
import { executorFolder, never, run } from '@tendon/runtime/testing';
import { plainClient, socketIoClient, testServer } from '../../packages/server/src/server.test-support.ts';
import { ask, open, preview } from './open-preview.ts';

const KEY = 'a-key-of-the-api';

/** Puts a stand-in for an editor on the sandbox's PATH. */
const EDITOR = `mkdir -p /tmp/bin; cat > /tmp/bin/openvscode-server <<'END'
#!/bin/sh
while [ $# -gt 0 ]; do [ "$1" = --port ] && port="$2"; shift; done
echo 'the editor' > index.html; exec python3 -m http.server --bind 127.0.0.1 "$port"
END
chmod +x /tmp/bin/openvscode-server; export PATH="/tmp/bin:$PATH"`;

beforeAll(() => void executorFolder());

describe('previews', () => {
  itInFull('SV60: what the agent serves is offered by link and shown on an origin of its own', async () => {
    const { server, link, port, get } = await preview();
    expect(link.hostname).toMatch(new RegExp(`^${port}-[0-9a-f]{32}\\.localhost$`));
    expect(link.port).toBe(new URL(server.url).port);
    const entered = await ask(server, link.host, `${link.pathname}/deep?x=1`, {});
    expect([entered.status, entered.headers.location, entered.headers['cache-control']]).toEqual([303, '/deep?x=1', 'no-store']);
    expect((await get('/deep?x=1')).body).toBe('page /deep?x=1');
    for (const path of ['/api/conversations', '/socket.io/', '/ws', '/alive']) expect((await get(`${path}?y`)).status, path).not.toBe(404);
    expect((await get('/api/conversations')).body).toBe('page /api/conversations');
  });

  itInFull('SV61: without its own cookie nobody sees it, whatever the name, token or port', async () => {
    const { server, link, port, cookie, get } = await preview();
    const label = link.hostname.split('.')[0]!.split('-')[1]!;
    const at = (name: string): string => `${name}.localhost:${link.port}`;
    const other = await server.create();
    expect(other).not.toBe('');
    const refused: readonly (readonly [string, Record<string, string>, string?])[] = [
      ['no cookie', {}],
      ['another cookie', { cookie: 'tendon_preview=guess' }],
      ['a changed token', { cookie: `${cookie.slice(0, -1)}${cookie.endsWith('A') ? 'B' : 'A'}` }],
      ['another port', { cookie }, at(`${port === 1 ? 2 : port - 1}-${label}`)],
      ['another conversation', { cookie }, at(`${port}-${'0'.repeat(32)}`)],
    ];
    for (const [what, headers, host] of refused) {
      const { status, body, headers: received } = await ask(server, host ?? link.host, '/', headers);
      expect([status, received['cache-control']], what).toEqual([401, 'no-store']);
      expect(body, what).toContain('locked');
    }
    expect((await get('/', {}, { host: at(`99999-${label}`) })).status).toBe(404);
    for (const host of [at('x'), at(`${port}-${label}.x`)]) expect((await get('/', {}, { host })).status, host).toBe(403);
    expect((await ask(server, link.host, `${link.pathname.slice(0, -1)}!`, {})).status).toBe(401);
    expect((await ask(server, link.host, `${link.pathname}//evil.example/`, {})).headers.location).toBe('/evil.example/');
    expect((await ask(server, `evil.example:${link.port}`, '/', { cookie })).status).toBeGreaterThanOrEqual(400);
  });

  it('SV62: another page can neither read nor drive it, only lead there', async () => {
    const { link, get } = await preview();
    const own = `http://${link.host}`;
    const CASES: readonly (readonly [string, Record<string, string>, number])[] = [
      ['own script', { origin: own, 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' }, 200],
      ['own script, older browser', { origin: own }, 200],
      ['foreign script', { origin: 'http://evil.example' }, 403],
      ['the app’s script', { origin: `http://localhost:${link.port}`, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' }, 403],
      [
        'another preview’s script',
        { origin: `http://1-${'a'.repeat(32)}.localhost`, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' },
        403,
      ],
      ['foreign image', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' }, 403],
      ['foreign link or frame', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' }, 200],
      ['frame in another preview', { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' }, 403],
      ['typed address', { 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }, 200],
    ];
    for (const [what, headers, status] of CASES) expect((await get('/seen', headers)).status, what).toBe(status);
    const form = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', origin: 'null' };
    expect((await get('/', form, { method: 'POST', body: Buffer.from('x') })).status).toBe(403);
  });

  itInFull('SV62: a frontend’s page may ask whether something is there, with its link alone', async () => {
    const { server, link, inside } = await preview();
    const probe = (origin: string, path = link.pathname) => ask(server, link.host, path, { origin });
    const seen = await probe(`http://localhost:${link.port}`);
    expect([seen.status, seen.headers['access-control-allow-origin']]).toEqual([204, `http://localhost:${link.port}`]);
    for (const origin of ['http://evil.example', 'null', `http://${link.host}`]) expect((await probe(origin)).status, origin).toBe(403);
    expect((await probe(`http://localhost:${link.port}`, '/.tendon/preview/a.1.b')).status).toBe(403);
    await inside('pkill -f program.py');
    await expect.poll(async () => (await probe(`http://localhost:${link.port}`)).status).toBe(502);
  });

  it('SV63: the API takes no request from a preview, wherever it is allowed to come from', async () => {
    const { server, link } = await preview({ env: { PERMITTED_CORS_ORIGINS: '*', TENDON_ALLOWED_HOSTS: '*' } });
    const origin = `http://${link.host}`;
    expect((await server.get('/api/conversations', { origin })).status).toBe(403);
    await expect(plainClient(server, '', { origin })).rejects.toThrow(/403/);
    expect((await server.get('/api/conversations', { origin: 'http://other.example' })).status).toBe(200);
  });

  it('SV64: neither our cookie nor the API’s key reaches the sandbox, nor what a client claims in the name of a proxy', async () => {
    const { get, cookie, link } = await preview({ sessionApiKey: KEY });
    const headers = {
      cookie: `a=1; ${cookie}; session=${KEY}; b=2`,
      'x-session-api-key': KEY,
      authorization: `Bearer ${KEY}`,
      referer: `http://localhost/?session_api_key=${KEY}`,
      'x-forwarded-for': '10.0.0.1',
      forwarded: 'for=10.0.0.1',
      connection: 'x-hop',
      'x-hop': 'gone',
      'x-own': 'unchanged',
    };
    const { body } = await get(`/seen?session_api_key=${KEY}`, headers);
    expect(body).not.toContain(KEY);
    expect(JSON.parse(body)).toEqual({
      path: '/seen?session_api_key=',
      headers: { host: link.host, cookie: 'a=1; b=2', connection: 'close', 'x-own': 'unchanged' },
    });
  });

  it('SV65: what is in the sandbox sets cookies for its own origin only, and not ours', async () => {
    const { get } = await preview();
    const { headers } = await get('/cookies');
    expect(headers['set-cookie']).toEqual(['app=1; Path=/', 'other=2; HttpOnly']);
    expect([headers['clear-site-data'], headers['x-own']]).toEqual([undefined, 'unchanged']);
  });

  itInFull('SV66: bodies pass in both directions, of known length and in pieces', async () => {
    const { get } = await preview();
    const body = randomBytes(3_000_000);
    const hash = createHash('sha256').update(body).digest('hex');
    expect((await get('/', {}, { method: 'POST', body })).body).toBe(hash);
    expect((await get('/', {}, { method: 'POST', body: [body.subarray(0, 1_000_000), body.subarray(1_000_000)] })).body).toBe(hash);
    expect((await get('/', {}, { method: 'HEAD' })).body).toBe('');
  });

  itInFull('SV66: a stream arrives while it is written, and is cut when the sandbox is killed', async () => {
    const { server, id, link, cookie } = await preview();
    const events = await open(server, link.host, '/events', { cookie });
    const [first] = (await once(events, 'data')) as [Buffer];
    expect(first.toString()).toBe('data: first\n\n');
    const cut = once(events, 'error');
    events.resume();
    await server.engine.runtimes.stop(id);
    await cut;
    const { status, body, headers } = await ask(server, link.host, '/', { cookie, accept: 'text/html' });
    expect([status, headers['cache-control']]).toEqual([503, 'no-store']);
    expect(body).toContain('The sandbox is not running');
  });

  it('SV66: a WebSocket passes, from the preview’s own page and with its cookie only', async () => {
    const { link, server, cookie, id } = await preview();
    const connect = (headers: Record<string, string>) =>
      new WebSocket(`ws://127.0.0.1:${link.port}/ws`, { headers: { host: link.host, ...headers } });
    const socket = connect({ cookie, origin: `http://${link.host}` });
    const [[upgrade]] = (await Promise.all([once(socket, 'upgrade'), once(socket, 'open')])) as [[IncomingMessage], unknown];
    expect(upgrade.headers['set-cookie']).toEqual(['app=1']);
    for (const word of ['one', 'two']) {
      socket.send(word);
      expect(String((await once(socket, 'message'))[0])).toBe(word);
    }
    for (const [headers, status] of [
      [{ cookie, origin: 'http://evil.example' }, 403],
      [{ cookie, origin: `http://localhost:${link.port}` }, 403],
      [{ origin: `http://${link.host}` }, 401],
    ] as const) {
      const [error] = (await once(connect(headers), 'error')) as [Error];
      expect(error.message).toContain(String(status));
    }
    const closed = once(socket, 'close');
    await server.engine.runtimes.stop(id);
    await closed;
  });

  it('SV67: where nothing listens, or the answer is not HTTP, a page says so and nobody caches it', async () => {
    const { get, inside } = await preview();
    const nonsense = await get('/nonsense', { accept: 'text/html' });
    expect([nonsense.status, nonsense.headers['cache-control']]).toEqual([502, 'no-store']);
    await inside('pkill -f program.py');
    await expect.poll(async () => (await get('/', { accept: 'text/html' })).body).toMatch(/Nothing listens on port/);
    expect((await get('/')).headers['content-type']).toContain('text/plain');
  });

  itInFull('SV68: with a domain of its own links lead there; from other machines without one there are none', async () => {
    const own = await testServer({ env: { TENDON_PREVIEW_DOMAIN: 'https://previews.example.org' }, sessionApiKey: KEY });
    expect(own.engine.runtimes.ports('none')).toBeUndefined();
    const { link, get, server, id } = await preview({
      env: { TENDON_PREVIEW_DOMAIN: 'https://previews.example.org', TENDON_ALLOWED_HOSTS: '*' },
    });
    expect(link.origin).toMatch(/^https:\/\/\d+-[0-9a-f]{32}\.previews\.example\.org$/);
    expect((await get('/')).body).toBe('page /');
    expect((await server.get(`/api/conversations/${id}`, { origin: link.origin })).status).toBe(403);
    const plain = await testServer({ env: { TENDON_ALLOWED_HOSTS: 'box.lan' } });
    const conversation = await plain.create();
    const answer = await ask(plain, 'box.lan', `/api/conversations/${conversation}/web-hosts`, {});
    expect(JSON.parse(answer.body)).toEqual({ hosts: {}, error: expect.stringContaining('TENDON_PREVIEW_DOMAIN') });
  });

  itInFull('SV60: who looks at the conversation hears of what is served', async () => {
    const { server, id, port, inside } = await preview();
    const { volatile } = await socketIoClient(server, { conversation_id: id, latest_event_id: -1 });
    const reported = (isThere: boolean) =>
      volatile.until(
        (frame) =>
          frame.volatile === 'ports' && (frame.ports as readonly { port: number }[]).some((each) => each.port === port) === isThere,
      );
    expect(await reported(true)).toMatchObject({ ports: [{ program: expect.stringContaining('python') }] });
    await inside('pkill -f program.py');
    await reported(false);
  });

  it('SV69: the editor is offered by link where there is one, else with the reason', async () => {
    const { server, id, inside } = await preview();
    const asked = async () =>
      (await (await server.get(`/api/conversations/${id}/vscode-url`)).json()) as { vscode_url: string | null; error?: string };
    expect(await asked()).toEqual({ vscode_url: null, error: expect.stringContaining('neither openvscode-server nor code-server') });
    await inside(EDITOR);
    const { vscode_url: url } = await asked();
    const link = new URL(url!);
    const entered = await ask(server, link.host, link.pathname + link.search, {});
    expect(entered.headers.location).toMatch(/^\/\?tkn=[0-9a-f]{32}&folder=%2Fworkspace$/);
    const cookie = entered.headers['set-cookie']![0]!.split(';')[0]!;
    expect((await ask(server, link.host, entered.headers.location!, { cookie })).body.trim()).toBe('the editor');
  });

  it('SV232: one permanent link leads to the program that listens first, and reports until then that none does', async () => {
    const { server, id, inside } = await preview();
    const hosts = async () =>
      ((await (await server.get(`/api/conversations/${id}/web-hosts`)).json()) as { hosts: Record<string, number> }).hosts;
    const before = await hosts();
    const link = new URL(Object.keys(before).find((url) => before[url] === 0)!);
    expect(link.hostname).toMatch(/^app-[0-9a-f]{32}\.localhost$/);
    const origin = server.url;
    const looked = async () => (await ask(server, link.host, link.pathname, { origin })).status;
    expect(await looked()).toBe(204);
    const entered = await ask(server, link.host, link.pathname, {});
    expect([entered.status, entered.headers.location]).toEqual([303, '/']);
    const cookie = entered.headers['set-cookie']![0]!.split(';')[0]!;
    expect((await ask(server, link.host, '/deep', { cookie })).body).toBe('page /deep');
    expect((await ask(server, link.host, '/deep', {})).status).toBe(401);
    const port = Object.values(before).find((each) => each > 0)!;
    expect((await ask(server, link.host.replace('app-', `${port}-`), '/deep', { cookie })).status).toBe(401);

    await inside('pkill -f program.py');
    await expect.poll(looked).toBe(503);
    expect((await ask(server, link.host, '/', { cookie, accept: 'text/html' })).body).toMatch(/refresh[^]*Nothing is served yet/);
    expect(Object.keys(await hosts())).toEqual([link.href]);
    await inside('(cd /tmp && setsid python3 -m http.server 0 --bind 127.0.0.1 >/dev/null 2>&1 &)');
    await expect.poll(looked).toBe(204);
    expect((await ask(server, link.host, '/program.py', { cookie })).status).toBe(200);
  });

  it('SV233: a link to the editor waits for the sandbox, and redirects when it runs', async () => {
    const server = await testServer({ env: { RUNTIME: 'local' } });
    const id = await server.create();
    const { vscode_url: url } = (await (await server.get(`/api/conversations/${id}/vscode-url`)).json()) as { vscode_url: string };
    const link = new URL(url);
    const entered = await ask(server, link.host, link.pathname, {});
    const cookie = entered.headers['set-cookie']![0]!.split(';')[0]!;
    const page = (path: string) => ask(server, link.host, path, { cookie, accept: 'text/html', 'sec-fetch-site': 'same-origin' });
    const waiting = await page(entered.headers.location!);
    expect([waiting.status, waiting.headers['cache-control']]).toEqual([503, 'no-store']);
    expect(waiting.body).toMatch(/refresh[^]*The editor waits for the sandbox/);
    expect(server.engine.runtimes.ports(id)).toBeUndefined();

    const runtime = await server.engine.runtimes.acquire(id, { signal: never });
    onTestFinished(() => server.engine.runtimes.stop(id));
    expect(await page('/')).toMatchObject({ status: 502, body: expect.stringContaining('There is no editor') as string });
    await run(runtime, EDITOR);
    const led = await page('/');
    expect([led.status, led.headers.location]).toEqual([303, expect.stringMatching(/^\/\?tkn=[0-9a-f]{32}&folder=%2Fworkspace$/)]);
    expect((await page(led.headers.location!)).body.trim()).toBe('the editor');
    expect((await ask(server, link.host, led.headers.location!, {})).status).toBe(401);
  });

  itInFull('SV233: a server without an editor says so', async () => {
    const server = await testServer({ env: { RUNTIME: 'local', SANDBOX_PLUGINS: 'jupyter' } });
    const answer = await (await server.get(`/api/conversations/${await server.create()}/vscode-url`)).json();
    expect(answer).toEqual({ vscode_url: null, error: expect.stringContaining('no editor') });
  });
});
