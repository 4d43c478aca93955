import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { connect, isIP, type Socket } from 'node:net';
import { dial, hostAddresses, Refused } from './dial.ts';
import { refusal } from './egress-policy.ts';
import type { Dial } from './listen-proxy.ts';

const CONNECT_DEADLINE_MS = 20_000;
const RESOLVE_DEADLINE_MS = 2000;
const MAX_HEAD_BYTES = 16 * 1024;

/**
 * Reaches targets through the proxy that the host itself must use. The names are then resolved over there, so the policy can
 * only judge what this host resolves them to; where it cannot, names of the local kind are refused and the others passed on.
 * `noProxy` = names and suffixes, comma-separated, that are dialled directly.
 */
export function dialThrough(upstream: URL, noProxy = ''): Dial {
  return async (host, port, signal) => {
    if (isExcepted(host, noProxy)) return dial(host, port, signal);
    await judge(host.replace(/^\[(.*)\]$/, '$1'), port);
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(CONNECT_DEADLINE_MS)]);
    const socket = await openUpstream(upstream, deadline);
    try {
      await askForTunnel(socket, upstream, `${host}:${port}`, deadline);
      return socket;
    } catch (error) {
      socket.destroy();
      throw error;
    }
  };
}

function isExcepted(host: string, noProxy: string): boolean {
  const names = noProxy.split(',').map((name) =>
    name
      .trim()
      .replace(/^\*?\./, '')
      .toLowerCase(),
  );
  return names.some((name) => name === '*' || (name !== '' && (host.toLowerCase() === name || host.toLowerCase().endsWith(`.${name}`))));
}

async function judge(host: string, port: number): Promise<void> {
  const addresses = isIP(host) ? [host] : await resolved(host);
  if (addresses.length === 0 && /^[^.]+$|\.(localhost|local|internal|lan|home\.arpa|corp|intranet)\.?$/i.test(host)) {
    throw new Refused('the name is a local one');
  }
  const ownAddresses = hostAddresses();
  for (const address of addresses.length === 0 ? ['1.1.1.1'] : addresses) {
    const reason = refusal({ address, port, ownAddresses }); // of an unknown address only the port is judged
    if (reason !== undefined) throw new Refused(reason);
  }
}

async function resolved(host: string): Promise<readonly string[]> {
  const late = new Promise<readonly string[]>((resolve) => setTimeout(resolve, RESOLVE_DEADLINE_MS, []).unref());
  const found = lookup(host, { all: true }).then(
    (list) => list.map(({ address }) => address),
    () => [],
  );
  return Promise.race([found, late]);
}

async function openUpstream(upstream: URL, signal: AbortSignal): Promise<Socket> {
  const isTls = upstream.protocol === 'https:';
  const target = { host: upstream.hostname, port: Number(upstream.port || (isTls ? 443 : 80)) };
  const socket = isTls ? (await import('node:tls')).connect({ ...target, servername: upstream.hostname }) : connect(target);
  try {
    await once(socket, isTls ? 'secureConnect' : 'connect', { signal });
    return socket;
  } catch (error) {
    socket.on('error', () => {}).destroy();
    throw new Error(`the host's own proxy ${upstream.host} cannot be reached`, { cause: error });
  }
}

async function askForTunnel(socket: Socket, upstream: URL, authority: string, signal: AbortSignal): Promise<void> {
  const login =
    upstream.username === ''
      ? ''
      : Buffer.from(`${decodeURIComponent(upstream.username)}:${decodeURIComponent(upstream.password)}`).toString('base64');
  const credentials = login === '' ? '' : `Proxy-Authorization: Basic ${login}\r\n`;
  socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n${credentials}\r\n`);
  let head = Buffer.alloc(0);
  while (!head.includes('\r\n\r\n')) {
    if (head.length > MAX_HEAD_BYTES) throw new Error("the host's own proxy sends no answer that ends");
    const [chunk] = (await Promise.race([once(socket, 'data', { signal }), once(socket, 'close', { signal })])) as [Buffer | boolean];
    if (!Buffer.isBuffer(chunk)) throw new Error("the host's own proxy closed the connection");
    head = Buffer.concat([head, chunk]);
  }
  socket.pause();
  const end = head.indexOf('\r\n\r\n') + 4;
  const [status = ''] = head.subarray(0, end).toString('latin1').split('\r\n');
  if (!/^HTTP\/1\.[01] 2\d\d/.test(status)) throw new Error(`the host's own proxy ${upstream.host} refused: ${status.slice(0, 200)}`);
  if (end < head.length) socket.unshift(head.subarray(end));
}
