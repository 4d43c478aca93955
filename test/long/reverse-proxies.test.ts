/** The configurations of docs/install.md for proxies of others, each in front of a server as it stands there but for the place. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { io } from 'socket.io-client';
import { WebSocket } from 'ws';
import { freePort } from '@tendon/testing';
import { TendonProcess, type WireEvent } from '@tendon/testing/servers';
import { describe, expect, it, onTestFinished } from 'vitest';

const NAME = 'tendon.example.org';
const KEY = 'the-key-of-the-owner';
const INSTALL = readFileSync(new URL('../../docs/install.md', import.meta.url), 'utf8');

/** The block of code after this line of the page. */
function documented(line: string): string {
  const found = INSTALL.split(line)[1]?.split('```')[1];
  if (!found) throw new Error(`docs/install.md has no configuration after "${line}"`);
  return found.replace(/^\n/, '');
}

interface Proxy {
  readonly port: number;
  /** Goes to the proxy by the name that the certificate is for. */
  readonly agent: Agent;
}

type StartProxy = (folder: string, port: number, server: string) => readonly [program: string, ...args: string[]];

const startNginx: StartProxy = (folder, port, server) => {
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', '-subj', `/CN=${NAME}`, '-keyout', key, '-out', cert];
  execFileSync('openssl', made, { stdio: 'ignore' });
  const site = documented('\nnginx:\n')
    .replace('listen 443', `listen 127.0.0.1:${port}`)
    .replace('/etc/ssl/tendon.example.org.pem', cert)
    .replace('/etc/ssl/tendon.example.org.key', key)
    .replace('http://127.0.0.1:3000', server);
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/${name};`).join('\n');
  const all = `daemon off; pid ${folder}/pid; error_log stderr; events {}\nhttp {\naccess_log off;\n${paths}\n${site}\n}\n`;
  writeFileSync(join(folder, 'nginx.conf'), all);
  return ['nginx', '-e', 'stderr', '-p', folder, '-c', join(folder, 'nginx.conf')];
};

const startCaddy: StartProxy = (folder, port, server) => {
  const site = documented('by itself):\n')
    .replace(`${NAME} {`, `https://${NAME}:${port} {\n\ttls internal`)
    .replace('127.0.0.1:3000', server.replace('http://', ''));
  writeFileSync(join(folder, 'Caddyfile'), `{\n\tadmin off\n\tauto_https disable_redirects\n\tskip_install_trust\n}\n${site}`);
  return ['caddy', 'run', '--adapter', 'caddyfile', '--config', join(folder, 'Caddyfile')];
};

async function behind(start: StartProxy, tendon: TendonProcess): Promise<Proxy> {
  const folder = mkdtempSync(join(tmpdir(), 'tendon-proxy-'));
  chmodSync(folder, 0o755); // nginx works as another user than it starts as
  const port = await freePort();
  const [program, ...args] = start(folder, port, tendon.url);
  const env = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  const child = spawn(program, args, { cwd: folder, env, stdio: ['ignore', 'ignore', 'pipe'] });
  await once(child, 'spawn').catch((cause: unknown) => {
    throw new Error(`${program} does not start; install it with: apt-get install nginx-light caddy`, { cause });
  });
  const printed = text(child.stderr);
  onTestFinished(async () => {
    child.kill('SIGTERM');
    await printed;
    rmSync(folder, { recursive: true, force: true });
  });
  const lookup = (_name: string, { all }: { readonly all?: boolean }, done: (...answer: unknown[]) => void) =>
    all ? done(null, [{ address: '127.0.0.1', family: 4 }]) : done(null, '127.0.0.1', 4);
  const agent = new Agent({ lookup: lookup as never, rejectUnauthorized: false, keepAlive: true });
  onTestFinished(() => agent.destroy());
  const proxy = { port, agent };
  for (let tries = 0; ; tries += 1) {
    const status = await ask(proxy, '/alive').then(
      (answer) => answer.status,
      () => 0,
    );
    if (status === 200) return proxy;
    if (tries === 100) throw new Error(`${program} does not answer: ${status}`);
    await pause(100);
  }
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}

interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

async function ask({ port, agent }: Proxy, path: string, { method, headers, body }: Asked = {}): Promise<Answer> {
  const given = { method: method ?? (body === undefined ? 'GET' : 'POST'), headers: { host: NAME, ...headers }, agent };
  const asking = request(`https://${NAME}:${port}${path}`, given);
  asking.end(body);
  const [response] = (await once(asking, 'response')) as [IncomingMessage];
  return { status: response.statusCode ?? 0, headers: response.headers, text: await text(response) };
}

const KEYED = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };

describe.each([
  ['nginx', startNginx],
  ['Caddy', startCaddy],
] as const)('behind %s, as docs/install.md has it', (_name, start) => {
  const begin = async () => {
    const env = { SESSION_API_KEY: KEY, TENDON_ALLOWED_HOSTS: NAME, RUNTIME: 'none' };
    const tendon = await TendonProcess.start(env);
    onTestFinished(() => tendon.remove());
    return { tendon, proxy: await behind(start, tendon) };
  };

  it('pages, keys, cookies and large bodies pass', async () => {
    const { proxy } = await begin();
    expect((await ask(proxy, '/api/conversations')).status).toBe(401);
    expect((await ask(proxy, '/api/conversations', { headers: { ...KEYED, origin: 'https://other.example' } })).status).toBe(403);
    const login = await ask(proxy, '/login', {
      body: new URLSearchParams({ key: KEY }).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded', origin: `https://${NAME}` },
    });
    const cookie = login.headers['set-cookie']?.join() ?? '';
    expect(cookie).toMatch(/; Secure/);
    const page = await ask(proxy, '/', { headers: { cookie: cookie.split(';')[0]!, accept: 'text/html', 'accept-encoding': 'br' } });
    expect(page).toMatchObject({ status: 200, headers: { 'content-encoding': 'br' } });
    const { conversation_id: id } = JSON.parse((await ask(proxy, '/api/conversations', { body: '{}', headers: KEYED })).text);
    const boundary = 'a-boundary';
    const file = Buffer.alloc(20_000_000, 'x');
    const part = `--${boundary}\r\ncontent-disposition: form-data; name="files"; filename="large.txt"\r\n\r\n`;
    const sent = await ask(proxy, `/api/conversations/${id}/upload-files`, {
      body: Buffer.concat([Buffer.from(part), file, Buffer.from(`\r\n--${boundary}--\r\n`)]),
      headers: { ...KEYED, 'content-type': `multipart/form-data; boundary=${boundary}` },
    });
    expect(sent).toMatchObject({ status: 200 });
    expect(JSON.parse(sent.text).uploaded_files).toEqual([expect.stringContaining('large.txt')]);
  });

  it.each([['websocket'], ['polling']] as const)(
    'events come over Socket.IO by %s as they happen, and again after the server was killed',
    async (by) => {
      const { tendon, proxy } = await begin();
      const body = JSON.stringify({ initial_user_msg: 'write a bash script that prints hello' });
      const { conversation_id: id } = JSON.parse((await ask(proxy, '/api/conversations', { body, headers: KEYED })).text);
      const events: WireEvent[] = [];
      const frames: unknown[] = [];
      const socket = io(`https://${NAME}:${proxy.port}`, {
        ...{ forceNew: true, transports: [by], agent: proxy.agent as never, rejectUnauthorized: false, reconnectionDelayMax: 200 },
        extraHeaders: { host: NAME },
        query: { conversation_id: id, latest_event_id: '-1', session_api_key: KEY },
      });
      onTestFinished(() => void socket.close());
      socket.on('oh_event', (event: WireEvent) => events.push(event));
      socket.on('tendon_volatile', (frame: unknown) => frames.push(frame));
      const isDone = () => events.some(({ extras }) => extras?.agent_state === 'finished');
      await expect.poll(isDone, { timeout: 60_000 }).toBe(true);
      expect(frames.length).toBeGreaterThan(1);
      await tendon.kill('SIGKILL');
      await expect.poll(() => ask(proxy, '/alive').then(({ status }) => status)).toBe(502);
      events.length = 0;
      await tendon.start();
      await expect.poll(isDone, { timeout: 60_000 }).toBe(true);
      expect(new Set(events.map((event) => event.id)).size).toBe(events.length);
    },
  );

  it('the first generation’s socket opens, and answers', async () => {
    const { proxy } = await begin();
    const socket = new WebSocket(`wss://${NAME}:${proxy.port}/ws`, {
      agent: proxy.agent,
      headers: { host: NAME, authorization: `Bearer ${KEY}` },
    });
    onTestFinished(() => socket.terminate());
    await once(socket, 'open');
    socket.send(JSON.stringify({ action: 'initialize', args: {} }));
    const [first] = (await once(socket, 'message')) as [Buffer];
    expect(JSON.parse(first.toString())).toMatchObject({ status: 'ok', token: expect.any(String) });
  });
});
