import { once } from 'node:events';
import { connect, isIP, type Socket } from 'node:net';
import { checkedAddresses, createDial, AddressRefused, type Dial } from './dial.ts';
import { refusal } from './egress-policy.ts';
import { createNameLookup, TooManyLookups, type NameLookup } from './name-lookup.ts';
import { LOCAL_NAME } from './network-policy.ts';
import { readFront } from './read-front.ts';

const CONNECT_DEADLINE_MS = 20_000;
const RESOLVE_DEADLINE_MS = 2000;
const MAX_HEAD_BYTES = 16 * 1024;

export interface UpstreamProxy {
  /** The proxy that this host itself must use (`HTTPS_PROXY`). */
  readonly url: URL;
  /** Names and suffixes, comma-separated, that are dialled directly (`NO_PROXY`). */
  readonly except?: string;
  /** The operator leaves names to that proxy: it is asked for them as they are, and its rules decide what is near it. */
  readonly resolves?: boolean;
}

/**
 * Reaches targets through the proxy that the host itself must use. It is asked for the address that was checked here, so what it
 * makes of the name itself counts for nothing; TLS and HTTP go on naming the host inside. Where names are left to it (`resolves`),
 * what resolves here is judged all the same, and names of the local kind are refused.
 */
export function dialThrough({ url, except = '', resolves = false }: UpstreamProxy, lookUp: NameLookup = createNameLookup()): Dial {
  const dial = createDial(lookUp);
  return async (host, port, signal) => {
    if (isExcepted(host, except)) return dial(host, port, signal);
    const targets = await (resolves ? judgedName : checkedTargets)(host, port, signal, lookUp);
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(CONNECT_DEADLINE_MS)]);
    let failure: unknown;
    for (const target of targets) {
      try {
        return await openTunnel(url, `${target.includes(':') ? `[${target}]` : target}:${port}`, deadline);
      } catch (error) {
        failure = error;
      }
    }
    throw failure;
  };
}

async function checkedTargets(host: string, port: number, signal: AbortSignal, lookUp: NameLookup): Promise<readonly string[]> {
  try {
    return (await checkedAddresses(host, port, signal, lookUp)).toSorted((a, b) => isIP(a) - isIP(b));
  } catch (error) {
    if (error instanceof AddressRefused || error instanceof TooManyLookups || signal.aborted) throw error;
    throw new AddressRefused(
      `the name does not resolve on this host, so what its proxy makes of it cannot be checked (SANDBOX_PROXY_RESOLVES leaves names to the proxy)`,
    );
  }
}

/** A sandbox that asks for too many names at once is not let past the judgement by that. */
async function judgedName(host: string, port: number, signal: AbortSignal, lookUp: NameLookup): Promise<readonly string[]> {
  const name = host.replace(/^\[(.*)\]$/, '$1');
  try {
    await checkedAddresses(host, port, AbortSignal.any([signal, AbortSignal.timeout(RESOLVE_DEADLINE_MS)]), lookUp);
  } catch (error) {
    if (error instanceof AddressRefused || error instanceof TooManyLookups || signal.aborted) throw error;
    if (LOCAL_NAME.test(name)) throw new AddressRefused('the name is a local one');
    const reason = refusal({ address: '1.1.1.1', port, ownAddresses: [] }); // of an unknown address only the port is judged
    if (reason !== undefined) throw new AddressRefused(reason);
  }
  return [name];
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

async function openTunnel(upstream: URL, authority: string, deadline: AbortSignal): Promise<Socket> {
  const socket = await openUpstream(upstream, deadline);
  try {
    await askForTunnel(socket, upstream, authority, deadline);
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
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
  const front = await readFront(socket, { maxBytes: MAX_HEAD_BYTES, signal }, endOfHead);
  if (front.kind === 'too long') throw new Error("the host's own proxy sends no answer that ends");
  if (front.kind !== 'found') throw new Error("the host's own proxy closed the connection");
  const [status = ''] = front.bytes.toString('latin1', 0, front.found).split('\r\n');
  if (!/^HTTP\/1\.[01] 2\d\d/.test(status)) throw new Error(`the host's own proxy ${upstream.host} refused: ${status.slice(0, 200)}`);
  if (front.found < front.bytes.length) socket.unshift(front.bytes.subarray(front.found));
}

function endOfHead(bytes: Buffer): number | undefined {
  const at = bytes.indexOf('\r\n\r\n');
  return at === -1 ? undefined : at + 4;
}
