import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { isIP, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { readClientHello, type ClientHello } from './client-hello.ts';
import { plainName } from './network-policy.ts';
import { passOn } from './pass-on.ts';
import { readFront } from './read-front.ts';

/** Where the policy opens names and not networks: what is sent in a tunnel must be for the name that was asked for. */
export interface NameHold {
  /** Asked for each tunnel. */
  applies(host: string, port: number): Promise<boolean>;
  /** Hears why a tunnel was ended: in it there is no place for words. */
  onRefused(host: string, port: number, reason: string): void;
}

export interface Tunnel {
  readonly host: string;
  readonly client: Duplex;
  /** What came of the client already. */
  readonly head: Buffer;
  readonly target: Socket;
}

const MAX_HELLO_BYTES = 16 * 1024;
const HELLO_DEADLINE_MS = 30_000;
const IDLE_MS = 10 * 60_000;
/** A TLS record: fatal alert, `unrecognized_name`. */
const UNRECOGNIZED_NAME = Buffer.from([21, 3, 1, 0, 2, 2, 112]);
const SSH = Buffer.from('SSH-');

/** Joins the two ends once the client's first bytes name the host: TLS that says so, or SSH, which knows no names. Else ends both; `onRefused` hears why. */
export async function joinByHello(
  { host, client, head, target }: Tunnel,
  onRefused: (reason: string) => void,
  signal: AbortSignal,
): Promise<void> {
  target.pipe(client); // a server may speak first
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(HELLO_DEADLINE_MS)]);
  const front = await readFront(client, { maxBytes: MAX_HELLO_BYTES, signal: deadline, first: head }, firstWords).catch(() => undefined);
  if (front?.kind === 'closed' || signal.aborted) return void client.destroy();
  const opening = front?.kind === 'found' ? front.found : undefined;
  const reason = refusedWords(opening, host);
  if (reason === undefined) {
    target.write(front?.kind === 'found' ? front.bytes : '');
    client.pipe(target);
    return;
  }
  onRefused(reason);
  const isTls = typeof opening === 'object' && opening.kind === 'hello';
  target.unpipe(client);
  client.end(isTls ? UNRECOGNIZED_NAME : '', () => client.destroy());
}

type FirstWords = Exclude<ClientHello, { kind: 'more' }> | 'ssh';

function firstWords(bytes: Buffer): FirstWords | undefined {
  if (bytes.length === 0 || (bytes.length < SSH.length && SSH.subarray(0, bytes.length).equals(bytes))) return undefined;
  if (bytes.subarray(0, SSH.length).equals(SSH)) return 'ssh';
  const hello = readClientHello(bytes);
  return hello.kind === 'more' ? undefined : hello;
}

function refusedWords(opening: FirstWords | undefined, host: string): string | undefined {
  if (opening === 'ssh') return undefined;
  const asked = plainName(host);
  const only = `a connection to ${asked} must be for ${asked} (policy "allowlist")`;
  if (opening === undefined)
    return `${only}: its first message had no end within ${HELLO_DEADLINE_MS / 1000} s and ${MAX_HELLO_BYTES / 1024} KiB`;
  if (opening.kind === 'other') return `${only}: what was sent is neither TLS nor SSH`;
  if (opening.isEncrypted) return `${only}: its TLS hides the name (Encrypted Client Hello)`;
  if (opening.serverName === undefined) return isIP(asked) ? undefined : `${only}: its TLS names no host (no SNI)`;
  return plainName(opening.serverName) === asked ? undefined : `${only}: its TLS names ${shown(opening.serverName)}`;
}

/**
 * Takes over a tunnel to port 80: HTTP, whose request must be for the host; `onRefused` hears why one is not. It is answered by its
 * target and ends the tunnel, so that no later one is for another host.
 */
export function answerHeldHttp({ host, client, head, target }: Tunnel, onRefused: (reason: string) => void): void {
  const server = createServer((request, response) => void answer(request, response));
  server.timeout = IDLE_MS;
  server.maxRequestsPerSocket = 1; // what is sent behind the first is dropped
  server.on('clientError', (_error, socket) => socket.destroy());

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.setHeader('connection', 'close');
    const reason = otherHost(request, plainName(host));
    if (reason !== undefined) {
      onRefused(reason);
      response.writeHead(403, { 'content-type': 'text/plain' }).end(`Tendon's sandbox may not connect there: ${reason}.\n`);
      return;
    }
    try {
      await passOn(request, response, { socket: target, path: request.url ?? '/', host });
    } catch {
      client.destroy();
    }
  }

  if (head.length > 0) client.unshift(head);
  server.emit('connection', client);
}

function otherHost({ headers, url = '' }: IncomingMessage, asked: string): string | undefined {
  const only = `a request to ${asked} must be for ${asked} (policy "allowlist")`;
  if (!url.startsWith('/') && url !== '*') return `${only}: it asks for ${shown(url)}`;
  return plainName((headers.host ?? '').replace(/:80$/, '')) === asked ? undefined : `${only}: its Host is ${shown(headers.host ?? '')}`;
}

/** A stranger's text, on its way into a log. */
function shown(text: string): string {
  return text.slice(0, 253).replaceAll(/[^!-~]/g, '?');
}
