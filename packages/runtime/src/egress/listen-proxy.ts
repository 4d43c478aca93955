import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { GIT_BROKER_NAME, KERNEL_PACKAGES_NAME } from '@tendon/protocol/executor-api';
import { mayGoTo, type BoundSecret } from '@tendon/protocol/masking';
import { createDial, AddressRefused, type Dial } from './dial.ts';
import type { PackageProxy } from './package-proxy.ts';
import type { GitBroker } from './git-broker.ts';
import { answerHeldHttp, joinByHello, type NameHold } from './held-tunnel.ts';
import { passOn } from './pass-on.ts';
import { refuseBody, refuseHead } from './refuse-secrets.ts';
import { listenInside } from '../transport/listen-inside.ts';

export interface Proxy {
  close(): Promise<void>;
}

export interface ProxyOptions {
  /** Tunnels and requests at the same time. */
  readonly maxConnections?: number;
  readonly dial?: Dial;
  /** Default: tunnels carry what they carry. */
  readonly hold?: NameHold;
  /** Plain requests that carry one of them to another host are refused, as of each request. Default: none. */
  readonly boundSecrets?: () => Promise<readonly BoundSecret[]>;
  /** Answers for `http://git.tendon.internal/…`. */
  readonly git?: GitBroker;
  /** Answers for `http://kernel.tendon.internal/…`. */
  readonly kernel?: PackageProxy;
}

const MAX_CONNECTIONS = 256;
/** Distinguishes an answer of ours from one of the target's (RFC 9209). */
const OURS = ['proxy-status', 'tendon'] as const;
const MAX_PHRASE_CHARS = 400;
const IDLE_MS = 10 * 60_000;
/**
 * The egress proxy of one sandbox, its only connection to a network: an HTTP proxy (`CONNECT host:port`, and `GET http://…`) on a unix socket in a folder that
 * the inside can see and not write. Owns that socket and the connections made through it; a new server listens again on the
 * same path. Its clients are hostile.
 */
export async function listenProxy(socketPath: string, options: ProxyOptions = {}): Promise<Proxy> {
  const { server, close } = createProxy(options);
  await listenInside(server, socketPath);
  return {
    async close() {
      close();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** The same without a socket to listen on: the caller hands connections to `server`. */
export function createProxy(options: ProxyOptions = {}): { readonly server: Server; close(): void } {
  const reach = options.dial ?? createDial();
  const closing = new AbortController();
  const tunnels = new Set<Duplex>();
  const server = createServer(
    (request, response) =>
      void forward(request, response, {
        reach,
        git: options.git,
        kernel: options.kernel,
        secretsNotFor: async (host) => ((await options.boundSecrets?.()) ?? []).filter((secret) => !mayGoTo(secret, host)),
        closing: closing.signal,
      }),
  );
  server.maxConnections = options.maxConnections ?? MAX_CONNECTIONS;
  server.timeout = IDLE_MS;
  server.on('connect', (request, client: Duplex, head: Buffer) => {
    tunnels.add(client);
    client.once('close', () => tunnels.delete(client));
    void tunnel({ request, client, head }, { reach, hold: options.hold, closing: closing.signal });
  });
  server.on('clientError', (_error, socket) => socket.destroy());
  return {
    server,
    close() {
      closing.abort(new Error('the proxy is closed'));
      for (const client of tunnels) client.destroy();
      server.closeAllConnections();
    },
  };
}

interface Asked {
  readonly request: IncomingMessage;
  readonly client: Duplex;
  readonly head: Buffer;
}

async function tunnel(
  { request, client, head }: Asked,
  { reach, hold, closing }: Pick<Ways, 'reach' | 'closing'> & Pick<ProxyOptions, 'hold'>,
): Promise<void> {
  client.on('error', () => {}); // an end is an end; `close` follows
  try {
    const { host, port } = authority(request.url ?? '');
    const isHeld = (await hold?.applies(host, port)) ?? false;
    const target = await reach(host, port, closing);
    target.setTimeout(IDLE_MS, () => target.destroy());
    target.on('error', () => {});
    client.once('close', () => target.destroy());
    if (client.destroyed) return void target.destroy();
    client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
    const onRefused = (reason: string): void => hold?.onRefused(host, port, reason);
    if (isHeld && port === 80) return answerHeldHttp({ host, client, head, target }, onRefused);
    target.once('close', () => client.destroy());
    if (isHeld) return await joinByHello({ host, client, head, target }, onRefused, closing);
    if (head.length > 0) target.write(head);
    client.pipe(target).pipe(client);
  } catch (error) {
    const { code, phrase, text } = answerTo(error);
    client.end(
      `HTTP/1.1 ${code} ${phrase}\r\ncontent-type: text/plain\r\n${OURS[0]}: ${OURS[1]}\r\nconnection: close\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
    );
  }
}

interface Ways {
  readonly reach: Dial;
  readonly git: GitBroker | undefined;
  readonly kernel: PackageProxy | undefined;
  /** Those that may not go to the host. */
  readonly secretsNotFor: (host: string) => Promise<readonly BoundSecret[]>;
  readonly closing: AbortSignal;
}

async function forward(request: IncomingMessage, response: ServerResponse, ways: Ways): Promise<void> {
  const { reach, git, kernel, secretsNotFor, closing } = ways;
  try {
    const url = httpUrl(request.url ?? '');
    if (url.host === GIT_BROKER_NAME && git !== undefined) return await git(request, response, url, closing);
    if (url.host === KERNEL_PACKAGES_NAME && kernel !== undefined) return await kernel(request, response, url);
    const secrets = await secretsNotFor(url.hostname);
    refuseHead(request, url.hostname, secrets);
    const socket = await reach(url.hostname, Number(url.port || 80), closing);
    const body = secrets.length === 0 ? request : request.pipe(refuseBody(url.hostname, secrets));
    await passOn(request, response, { socket, path: `${url.pathname}${url.search}`, host: url.host, body });
  } catch (error) {
    if (response.headersSent) return void response.destroy();
    const { code, phrase, text } = answerTo(error);
    response.writeHead(code, phrase, { 'content-type': 'text/plain', [OURS[0]]: OURS[1], connection: 'close' }).end(text);
  }
}

function authority(text: string): { readonly host: string; readonly port: number } {
  const match = /^(\[[0-9a-f:.]+\]|[^:@/\s]+):(\d{1,5})$/i.exec(text);
  if (match?.[1] === undefined) throw new AddressRefused('CONNECT needs host:port');
  return { host: match[1], port: Number(match[2]) };
}

function httpUrl(text: string): URL {
  const url = URL.parse(text);
  if (url?.protocol !== 'http:') throw new AddressRefused('this is a proxy: ask it for http:// URLs, or CONNECT for everything else');
  return url;
}

/** The reason is in the status line too: of a tunnel that is refused most programs show nothing else. */
function answerTo(error: unknown): { readonly code: number; readonly phrase: string; readonly text: string } {
  const why = error instanceof Error ? error.message : String(error);
  const isRefused = error instanceof AddressRefused;
  const text = `Tendon's sandbox ${isRefused ? 'may not connect there' : 'could not connect'}: ${why}.`;
  return { code: isRefused ? 403 : 502, phrase: text.replaceAll(/[^ -~]+/g, ' ').slice(0, MAX_PHRASE_CHARS), text: `${text}\n` };
}
