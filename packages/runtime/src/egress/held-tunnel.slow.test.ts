import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { connect, createServer as createTcpServer, type AddressInfo, type Server as TcpServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { connect as connectTls, createServer as createTlsServer } from 'node:tls';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { readClientHello } from './client-hello.ts';
import { createProxy } from './listen-proxy.ts';
import { isHeldToName, type NetworkPolicy } from './network-policy.ts';
import { readFront } from './read-front.ts';

const LISTED: NetworkPolicy = { mode: 'allowlist', allow: ['listed.example', '192.0.2.7'], allowPrivate: [] };
const closers: (() => void)[] = [];
let certificate: { readonly key: string; readonly cert: string };

beforeAll(() => {
  const folder = mkdtempSync(join(tmpdir(), 'tendon-certificate-'));
  const [key, cert] = [join(folder, 'key'), join(folder, 'cert')];
  const made = [
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-subj',
    '/CN=x',
    '-keyout',
    key,
    '-out',
    cert,
  ];
  execFileSync('openssl', made, { stdio: 'ignore' });
  certificate = { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  rmSync(folder, { recursive: true });
});
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

async function listening(server: TcpServer | Server): Promise<number> {
  closers.push(() => server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

interface Way {
  /** A tunnel, once the proxy has agreed. */
  tunnel(target: string): Promise<Socket>;
  readonly refused: string[];
}

/** The proxy of a sandbox under a policy; `port` of this machine stands for the internet. */
async function way(port: number, policy: NetworkPolicy = LISTED): Promise<Way> {
  const refused: string[] = [];
  const { server, close } = createProxy({
    async dial() {
      const socket = connect(port, '127.0.0.1');
      await once(socket, 'connect');
      return socket;
    },
    hold: {
      applies: async (host, at) => isHeldToName(policy, host, at),
      onRefused: (host, at, reason) => void refused.push(`${host}:${at} ${reason}`),
    },
  });
  const own = await listening(server);
  closers.push(close);
  return {
    refused,
    async tunnel(target) {
      const socket = connect({ port: own, host: '127.0.0.1', noDelay: true }).on('error', () => {});
      closers.push(() => socket.destroy());
      socket.write(`CONNECT ${target} HTTP/1.1\r\nhost: ${target}\r\n\r\n`);
      const yes = 'HTTP/1.1 200 Connection Established\r\n\r\n';
      const isYes = (bytes: Buffer) => bytes.toString().startsWith(yes) || undefined;
      const front = await readFront(socket, { maxBytes: 1000, signal: AbortSignal.timeout(10_000) }, isYes);
      if (front.kind !== 'found') throw new Error('refused');
      if (front.bytes.length > yes.length) socket.unshift(front.bytes.subarray(yes.length));
      return socket;
    },
  };
}

/** A site that serves every name, as a content network does; says which it was asked for. */
function tlsSite(): Promise<number> {
  return listening(createTlsServer(certificate, (socket) => socket.on('error', () => {}).end(`this is ${socket.servername || 'nobody'}`)));
}

async function overTls(socket: Socket, servername: string | undefined): Promise<string> {
  return text(connectTls({ socket, rejectUnauthorized: false, ...(servername !== undefined && { servername }) }));
}

/** What a real client says first. */
async function helloFor(servername: string): Promise<Buffer> {
  const server = createTcpServer();
  const port = await listening(server);
  const client = connectTls({ port, host: '127.0.0.1', servername }).on('error', () => {});
  const [socket] = (await once(server, 'connection')) as [Socket];
  const [hello] = (await once(socket, 'data')) as [Buffer];
  client.destroy();
  return hello;
}

/** The same message in records of `size` bytes. */
function inRecords(hello: Buffer, size: number): Buffer {
  const message = hello.subarray(5);
  const parts = Array.from({ length: Math.ceil(message.length / size) }, (_, at) => message.subarray(at * size, (at + 1) * size));
  return Buffer.concat(parts.flatMap((part) => [Buffer.from([22, 3, 1, part.length >> 8, part.length & 255]), part]));
}

/** With one more extension, all lengths set right. */
function withExtension(hello: Buffer, type: number, content: Buffer): Buffer {
  const extra = Buffer.concat([Buffer.from([type >> 8, type & 255, content.length >> 8, content.length & 255]), content]);
  const grown = Buffer.concat([hello, extra]);
  grown.writeUInt16BE(grown.readUInt16BE(3) + extra.length, 3);
  grown.writeUIntBE(grown.readUIntBE(6, 3) + extra.length, 6, 3);
  let at = 9 + 2 + 32;
  at += 1 + grown.readUInt8(at);
  at += 2 + grown.readUInt16BE(at);
  at += 1 + grown.readUInt8(at);
  grown.writeUInt16BE(grown.readUInt16BE(at) + extra.length, at);
  return grown;
}

/** A place that answers nothing and keeps what it is sent. */
async function sink(): Promise<{ readonly port: number; received(length: number): Promise<Buffer>; all(): Buffer }> {
  const server = createTcpServer((socket) => {
    socket
      .on('error', () => {})
      .on('data', (chunk: Buffer) => {
        bytes = Buffer.concat([bytes, chunk]);
        server.emit('more');
      });
  });
  let bytes = Buffer.alloc(0);
  return {
    port: await listening(server),
    all: () => bytes,
    async received(length) {
      while (bytes.length < length) await once(server, 'more');
      return bytes;
    },
  };
}

describe('SB355: a tunnel to port 443 under allowlist', () => {
  it('carries TLS for the name that was asked for', async () => {
    const { tunnel, refused } = await way(await tlsSite());
    expect(await overTls(await tunnel('listed.example:443'), 'listed.example')).toBe('this is listed.example');
    expect(await overTls(await tunnel('LISTED.example.:443'), 'Listed.EXAMPLE')).toBe('this is Listed.EXAMPLE');
    expect(await overTls(await tunnel('192.0.2.7:443'), undefined)).toBe('this is nobody');
    expect(refused).toEqual([]);
  });

  it('is ended where TLS is for another name or for none, with an alert and in words', async () => {
    const { port, all } = await sink();
    const { tunnel, refused } = await way(port);
    await expect(overTls(await tunnel('listed.example:443'), 'evil.example')).rejects.toThrow(/unrecognized.name/i);
    await expect(overTls(await tunnel('listed.example:443'), undefined)).rejects.toThrow(/unrecognized.name/i);
    await expect(overTls(await tunnel('192.0.2.7:443'), 'evil.example')).rejects.toThrow(/unrecognized.name/i);
    expect(refused).toEqual([
      'listed.example:443 a connection to listed.example must be for listed.example (policy "allowlist"): its TLS names evil.example',
      'listed.example:443 a connection to listed.example must be for listed.example (policy "allowlist"): its TLS names no host (no SNI)',
      '192.0.2.7:443 a connection to 192.0.2.7 must be for 192.0.2.7 (policy "allowlist"): its TLS names evil.example',
    ]);
    expect(all()).toHaveLength(0);
  });

  it('passes on every byte as it was sent, however it was cut', async () => {
    const hello = await helloFor('listed.example');
    for (const sent of [hello, inRecords(hello, 100)]) {
      const { port, received } = await sink();
      const { tunnel } = await way(port);
      const socket = await tunnel('listed.example:443');
      for (const byte of sent) socket.write(Buffer.of(byte));
      socket.write('and more');
      const all = Buffer.concat([sent, Buffer.from('and more')]);
      expect(await received(all.length)).toEqual(all);
    }
  });

  it.each([
    ['another name in a later record', async () => inRecords(await helloFor('evil.example'), 100), /names evil.example/],
    ['an encrypted hello', async () => withExtension(await helloFor('listed.example'), 0xfe0d, Buffer.alloc(64)), /Encrypted Client Hello/],
    [
      'two names',
      async () => withExtension(await helloFor('listed.example'), 0, Buffer.from('\0\x0f\0\0\x0cevil.example', 'latin1')),
      /neither/,
    ],
    ['plain HTTP', async () => Buffer.from('GET / HTTP/1.1\r\nHost: listed.example\r\n\r\n'), /neither TLS nor SSH/],
    [
      'records without end',
      async () => Buffer.from([22, 3, 1, 0, 1, 1].concat(...Array.from({ length: 16 }, () => [22, 3, 1, 0, 1, 255]))),
      /neither/,
    ],
    [
      'a hello without end',
      async () => Buffer.concat([Buffer.from([22, 3, 1, 64, 0, 1, 255, 255, 255]), Buffer.alloc(16_375)]),
      /had no end/,
    ],
  ])('is ended by %s', async (_what, bytes, reason) => {
    const { port, all } = await sink();
    const { tunnel, refused } = await way(port);
    const socket = await tunnel('listed.example:443');
    socket.resume().write(await bytes());
    await once(socket, 'close');
    expect(refused.join()).toMatch(reason);
    expect(all()).toHaveLength(0);
  });

  it('carries SSH, which knows no names, whichever side speaks first', async () => {
    const port = await listening(
      createTcpServer((socket) => {
        socket.on('error', () => {}).write('SSH-2.0-server\r\n');
        socket.pipe(socket);
      }),
    );
    const { tunnel, refused } = await way(port);
    const socket = await tunnel('listed.example:443');
    expect(String((await once(socket, 'data'))[0])).toBe('SSH-2.0-server\r\n');
    socket.write('SSH-2.0-client\r\n');
    expect(String((await once(socket, 'data'))[0])).toBe('SSH-2.0-client\r\n');
    expect(refused).toEqual([]);
  });

  it('is read to its end in whatever is sent, and never thrown at', async () => {
    const hello = await helloFor('listed.example');
    for (let at = 0; at < hello.length; at += 1) {
      expect(readClientHello(hello.subarray(0, at)).kind).toBe('more');
      for (const value of [0, 1, 127, 255]) {
        const other = Buffer.from(hello);
        other[at] = value;
        expect(['more', 'other', 'hello']).toContain(readClientHello(other).kind);
      }
    }
    expect(readClientHello(hello)).toEqual({ kind: 'hello', serverName: 'listed.example', isEncrypted: false });
  });
});

describe('SB356: a tunnel to port 80 under allowlist', () => {
  const site = () => listening(createServer((request, response) => response.end(`${request.headers.host} has ${request.url}`)));
  const get = (host: string, path = '/a') => `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`;

  it('carries one request, for the host that was asked for', async () => {
    const { tunnel, refused } = await way(await site());
    const socket = await tunnel('listed.example:80');
    socket.write(get('listed.example') + get('evil.example', '/second'));
    const answer = await text(socket);
    expect(answer).toContain('listed.example has /a');
    expect(answer).not.toContain('/second');
    expect(refused).toEqual([]);
  });

  it.each([get('evil.example'), get('listed.example', 'http://evil.example/'), get('listed.example:81')])(
    'refuses %j in words',
    async (request) => {
      const { tunnel, refused } = await way(await site());
      const socket = await tunnel('listed.example:80');
      socket.write(request);
      expect(await text(socket)).toMatch(/^HTTP\/1.1 403 [^]*must be for listed.example \(policy "allowlist"\)/);
      expect(refused).toHaveLength(1);
    },
  );

  it('carries nothing that is not HTTP', async () => {
    const { port, all } = await sink();
    const { tunnel } = await way(port);
    const socket = await tunnel('listed.example:80');
    socket.resume().write(await helloFor('evil.example'));
    await once(socket, 'close');
    expect(all()).toHaveLength(0);
  });
});

it('SB357: other policies, ports and places that the operator opened carry what they carry', async () => {
  const policies: readonly (readonly [NetworkPolicy, string])[] = [
    [{ mode: 'full', allow: [], allowPrivate: [] }, 'listed.example:443'],
    [{ mode: 'full', allow: [], allowPrivate: [] }, 'listed.example:80'],
    [LISTED, 'listed.example:22'],
    [{ ...LISTED, allowPrivate: ['near.example:443'] }, 'near.example:443'],
  ];
  for (const [policy, target] of policies) {
    const { tunnel, refused } = await way(await tlsSite(), policy);
    expect(await overTls(await tunnel(target), 'evil.example')).toBe('this is evil.example');
    expect(refused).toEqual([]);
  }
  expect(isHeldToName({ mode: 'full', allow: [], allowPrivate: [], atMost: LISTED }, 'listed.example', 443)).toBe(true);
});
