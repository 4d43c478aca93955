import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, request as httpRequest, type IncomingMessage, type Server } from 'node:http';
import { connect, createServer as createTcpServer, type AddressInfo, type Server as TcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { dialThrough, type UpstreamProxy } from './dial-through.ts';
import { createProxy } from './listen-proxy.ts';

const never = new AbortController().signal;
const servers: (Server | TcpServer)[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function listening(server: TcpServer): Promise<number> {
  servers.push(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

/** A company's proxy: takes CONNECT with a password and sends everybody to one place, first bytes and answer in one piece. */
async function upstream(target: number, firstBytes = 'hello '): Promise<{ readonly url: URL; readonly asked: string[] }> {
  const asked: string[] = [];
  const server = createServer();
  server.on('connect', (request, client) => {
    asked.push(`${request.url} ${request.headers['proxy-authorization'] ?? 'nobody'}`);
    if (request.url === 'forbidden.example:443') return void client.end('HTTP/1.1 407 Who are you\r\n\r\n');
    const socket = connect(target, '127.0.0.1', () => {
      client.write(`HTTP/1.1 200 OK\r\n\r\n${firstBytes}`);
      client.pipe(socket).pipe(client);
    });
    for (const end of [client, socket]) end.on('error', () => {});
  });
  return { url: new URL(`http://me:pass%20word@127.0.0.1:${await listening(server)}`), asked };
}

/** What a process comes to whose machine resolves names by `hosts`, for each of them. */
async function dialledWith(hosts: string, proxy: UpstreamProxy, names: readonly string[]): Promise<unknown> {
  const folder = await mkdtemp(join(tmpdir(), 'tendon-hosts-'));
  const program = `
    import { dialThrough } from ${JSON.stringify(new URL('dial-through.ts', import.meta.url).href)};
    const { url, names, ...rest } = JSON.parse(process.argv[1]);
    const dial = dialThrough({ url: new URL(url), ...rest });
    const outcomes = [];
    for (const name of names) {
      outcomes.push(await dial(name, 443, new AbortController().signal).then((socket) => (socket.destroy(), 'reached'), (error) => error.message));
    }
    console.log(JSON.stringify(outcomes));`;
  try {
    await writeFile(join(folder, 'hosts'), hosts);
    const inside = ['--dev-bind', '/', '/', '--ro-bind', join(folder, 'hosts'), '/etc/hosts', process.execPath];
    const node = ['--conditions=tendon-source', '--input-type=module', '-e', program, JSON.stringify({ ...proxy, names })];
    const { stdout } = await promisify(execFile)('bwrap', [...inside, ...node]);
    return JSON.parse(stdout);
  } finally {
    await rm(folder, { recursive: true });
  }
}

describe('behind a proxy of the host', () => {
  it('SB28: targets are reached through it, and no byte is lost', async () => {
    const echo = await listening(createTcpServer((socket) => socket.on('error', () => {}).pipe(socket)));
    const { url, asked } = await upstream(echo);
    const socket = await dialThrough({ url })('8.8.8.8', 443, never);
    socket.write('there');
    let heard = '';
    for await (const chunk of socket) {
      heard += String(chunk);
      if (heard.length === 11) break;
    }
    expect(heard).toBe('hello there');
    expect(asked).toEqual([`8.8.8.8:443 Basic ${Buffer.from('me:pass word').toString('base64')}`]);
  });

  it.each(['127.0.0.1', '[::1]', '10.0.0.1', 'localhost', 'metadata.google.internal', 'printer', 'nas.local'])(
    'SB28: %s is refused before it is asked',
    async (host) => {
      const { url, asked } = await upstream(1);
      await expect(dialThrough({ url })(host, 8080, never)).rejects.toThrow(/address|does not resolve/);
      await expect(dialThrough({ url, resolves: true })(host, 8080, never)).rejects.toThrow(/address|local/);
      expect(asked).toEqual([]);
    },
  );

  it('SB28: its refusals and its absence are reported', async () => {
    const { url } = await upstream(1);
    await expect(dialThrough({ url, resolves: true })('forbidden.example', 443, never)).rejects.toThrow(/407 Who are you/);
    await expect(dialThrough({ url: new URL('http://127.0.0.1:1') })('8.8.8.8', 443, never)).rejects.toThrow(
      /own proxy 127.0.0.1:1 cannot be reached/,
    );
  });

  it('SB28: plain HTTP is answered through it', async () => {
    const target = await listening(createServer((request, response) => response.end(`${request.headers.host} has ${request.url}`)));
    const { url, asked } = await upstream(target, '');
    const proxy = createProxy({ dial: dialThrough({ url }) });
    const port = await listening(proxy.server);
    const outgoing = httpRequest({ host: '127.0.0.1', port, path: 'http://8.8.8.8/a?b', headers: { host: '8.8.8.8' } }).end();
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
    expect(await text(response)).toBe('8.8.8.8 has /a?b');
    expect(asked).toHaveLength(1);
    proxy.close();
  });

  it('SB350: it is asked for the address that was checked here, never for the name', async () => {
    const { url, asked } = await upstream(await listening(createTcpServer((socket) => socket.end())));
    const hosts = '93.184.216.34 good.example\n10.66.0.1 near.example\n2606:2800:21f::1 both.example\n93.184.216.35 both.example\n';
    expect(await dialledWith(hosts, { url }, ['good.example', 'near.example', 'both.example', 'unknown.invalid'])).toEqual([
      'reached',
      'the address is private',
      'reached',
      expect.stringMatching(/does not resolve on this host.*SANDBOX_PROXY_RESOLVES/),
    ]);
    expect(asked.map((line) => line.split(' ')[0])).toEqual(['93.184.216.34:443', '93.184.216.35:443']);
  });

  it('SB351: where names are left to it, what resolves here is judged all the same', async () => {
    const { url, asked } = await upstream(await listening(createTcpServer((socket) => socket.end())));
    const hosts = '93.184.216.34 good.example\n10.66.0.1 near.example\n';
    const names = ['good.example', 'near.example', 'unknown.invalid', 'printer', '0x7f.0.0.0x1', '127.1'];
    expect(await dialledWith(hosts, { url, resolves: true }, names)).toEqual([
      'reached',
      'the address is private',
      'reached',
      'the name is a local one',
      expect.stringMatching(/local one|four decimal numbers/),
      expect.stringMatching(/local one|four decimal numbers/),
    ]);
    expect(asked.map((line) => line.split(' ')[0])).toEqual(['good.example:443', 'unknown.invalid:443']);
  });

  it('SB28: exceptions are dialled directly, under the same policy', async () => {
    const { url, asked } = await upstream(1);
    await expect(dialThrough({ url, except: 'example.com, .localhost' })('app.localhost', 8080, never)).rejects.toThrow(
      /loopback|address|ENOTFOUND|EAI_AGAIN/,
    );
    expect(asked).toEqual([]);
  });
});
