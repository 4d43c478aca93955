import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect, createServer as createTcpServer, type AddressInfo, type Server as TcpServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { dialThrough } from './dial-through.ts';

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
async function upstream(target: number): Promise<{ readonly url: URL; readonly asked: string[] }> {
  const asked: string[] = [];
  const server = createServer();
  server.on('connect', (request, client) => {
    asked.push(`${request.url} ${request.headers['proxy-authorization'] ?? 'nobody'}`);
    if (request.url === 'forbidden.example:443') return void client.end('HTTP/1.1 407 Who are you\r\n\r\n');
    const socket = connect(target, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 OK\r\n\r\nhello ');
      client.pipe(socket).pipe(client);
    });
    for (const end of [client, socket]) end.on('error', () => {});
  });
  return { url: new URL(`http://me:pass%20word@127.0.0.1:${await listening(server)}`), asked };
}

describe('behind a proxy of the host', () => {
  it('SB28: targets are reached through it, and no byte is lost', async () => {
    const echo = await listening(createTcpServer((socket) => socket.on('error', () => {}).pipe(socket)));
    const { url, asked } = await upstream(echo);
    const socket = await dialThrough(url)('8.8.8.8', 443, never);
    socket.write('there');
    let text = '';
    for await (const chunk of socket) {
      text += String(chunk);
      if (text.length === 11) break;
    }
    expect(text).toBe('hello there');
    expect(asked).toEqual([`8.8.8.8:443 Basic ${Buffer.from('me:pass word').toString('base64')}`]);
  });

  it.each(['127.0.0.1', '[::1]', '10.0.0.1', 'localhost', 'metadata.google.internal', 'printer', 'nas.local'])(
    'SB28: %s is refused before it is asked',
    async (host) => {
      const { url, asked } = await upstream(1);
      await expect(dialThrough(url)(host, 8080, never)).rejects.toThrow(/address|local/);
      expect(asked).toEqual([]);
    },
  );

  it('SB28: what it refuses, and that it is not there, is said', async () => {
    const { url } = await upstream(1);
    await expect(dialThrough(url)('forbidden.example', 443, never)).rejects.toThrow(/407 Who are you/);
    await expect(dialThrough(new URL('http://127.0.0.1:1'))('8.8.8.8', 443, never)).rejects.toThrow(
      /own proxy 127.0.0.1:1 cannot be reached/,
    );
  });

  it('SB28: exceptions are dialled directly, under the same policy', async () => {
    const { url, asked } = await upstream(1);
    await expect(dialThrough(url, 'example.com, .localhost')('app.localhost', 8080, never)).rejects.toThrow(
      /loopback|address|ENOTFOUND|EAI_AGAIN/,
    );
    expect(asked).toEqual([]);
  });
});
