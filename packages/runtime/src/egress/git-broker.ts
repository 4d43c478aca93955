import { request as httpRequest, type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse } from 'node:http';
import type { Secret } from '@tendon/protocol/masking';
import { GIT_BROKER_NAME } from '@tendon/protocol/executor-api';
import { AddressRefused, type Dial, dialOrigin } from './dial.ts';
import { exchange, picked } from '../transport/exchange.ts';

/** How one git host is reached. */
export interface GitLogin {
  /** `https://name[:port]`; `http://` only where the user gave the host that way. */
  readonly origin: string;
  /** The whole header; missing without a token. */
  readonly authorization?: Secret;
}

/** The git hosts that a sandbox reaches through the broker. */
export interface GitAccess {
  /** Names as they stand in URLs, with a port where they have one. */
  hosts(): Promise<readonly string[]>;
  login(host: string): Promise<GitLogin | undefined>;
}

export interface GitBrokerOptions {
  readonly access: GitAccess;
  readonly dial: Dial;
  /** Once for each repository and operation. */
  readonly onUse: (use: string) => void;
}

export type GitBroker = (request: IncomingMessage, response: ServerResponse, url: URL, signal: AbortSignal) => Promise<void>;

const IDLE_MS = 10 * 60_000;
const MAX_REMEMBERED = 200;
const PASSED_ON = [
  'accept',
  'accept-encoding',
  'authorization',
  'content-encoding',
  'content-length',
  'content-type',
  'git-protocol',
  'user-agent',
];
const PASSED_BACK = [
  'cache-control',
  'content-encoding',
  'content-length',
  'content-type',
  'expires',
  'lfs-authenticate',
  'pragma',
  'retry-after',
  'www-authenticate',
];

/**
 * Speaks git's HTTP protocol with a host in the name of the user, so that the token never enters the sandbox. Owns nothing but
 * the requests under way. The caller is hostile:
 *
 * GBR1  A token goes only to the host it was stored for, and only with a request of git's own protocol.
 * GBR2  The token does not follow a redirect to another host.
 * GBR3  Each use is reported, without the token.
 */
export function createGitBroker({ access, dial, onUse }: GitBrokerOptions): GitBroker {
  const reported = new Set<string>();

  function report(use: string): void {
    if (reported.has(use) || reported.size >= MAX_REMEMBERED) return;
    reported.add(use);
    onUse(use);
  }

  return async (request, response, url, signal) => {
    const asked = readGitRequest(request.method ?? '', url);
    if (asked === undefined) throw new AddressRefused(`${GIT_BROKER_NAME} takes requests of git's own protocol and nothing else`);
    const login = await access.login(asked.host);
    if (login === undefined) throw new AddressRefused(`${asked.host} is not a git host that Tendon knows; use its own URL`);
    const origin = new URL(login.origin);
    const usesToken = login.authorization !== undefined && request.headers.authorization === undefined;
    if (asked.operation !== 'more')
      report(`${asked.operation} ${asked.host}/${asked.repository}${usesToken ? ' with the stored token' : ''}`);
    const socket = await dialOrigin(origin, dial, signal);
    const outgoing = httpRequest({
      method: request.method,
      path: asked.path,
      headers: headersFor(request, origin, usesToken ? login.authorization : undefined),
      createConnection: () => socket,
    });
    outgoing.setTimeout(IDLE_MS, () => outgoing.destroy());
    await exchange(request, response, outgoing, (incoming) => beginAnswer(incoming, response, { asked, origin, usesToken }));
  };
}

function headersFor(request: IncomingMessage, origin: URL, authorization: Secret | undefined): OutgoingHttpHeaders {
  return {
    ...picked(request, PASSED_ON),
    host: origin.host,
    connection: 'close',
    ...(authorization && { authorization: authorization.reveal() }),
  };
}

interface Exchange {
  readonly asked: GitRequest;
  readonly origin: URL;
  readonly usesToken: boolean;
}

function beginAnswer(incoming: IncomingMessage, response: ServerResponse, { asked, origin, usesToken }: Exchange): boolean {
  const status = incoming.statusCode ?? 502;
  if (status === 401) {
    incoming.resume();
    // Not 401: nobody inside can be asked for a password. Git shows a plain text to its user.
    response.writeHead(403, { 'content-type': 'text/plain', connection: 'close' }).end(needsToken(asked, usesToken));
    return false;
  }
  const location = incoming.headers.location;
  response.writeHead(status, {
    ...picked(incoming, PASSED_BACK),
    ...(location !== undefined && { location: throughBroker(location, asked, origin) }),
  });
  return true;
}

function needsToken({ host, repository }: GitRequest, usesToken: boolean): string {
  return usesToken
    ? `${host} refused the stored token for ${repository}. Store a new one in the settings, under Git.\n`
    : `${host} asks who you are for ${repository}: it is private or does not exist. Store a token for ${host} in the settings, under Git.\n`;
}

/** A renamed repository of the same host stays with the broker; everything else is the caller's own affair. */
function throughBroker(location: string, { host }: GitRequest, origin: URL): string {
  const target = URL.parse(location, origin.href);
  return target?.origin === origin.origin ? `http://${GIT_BROKER_NAME}/${host}${target.pathname}${target.search}` : location;
}

/** A request of git's smart HTTP protocol or of LFS: `http://git.tendon.internal/<host>/<repository>/…`. */
export interface GitRequest {
  readonly host: string;
  /** Without slashes around it and without `.git`. */
  readonly repository: string;
  /** Path and query for the host itself. */
  readonly path: string;
  /** What it begins; `more` continues what was begun. */
  readonly operation: 'fetch' | 'push' | 'lfs' | 'more';
}

const SHAPE =
  /^\/(?<host>[a-z0-9.-]+(?::\d{1,5})?)(?<path>\/(?<repository>[\w.~+/-]+?)(?:\.git)?\/(?<call>info\/refs|git-upload-pack|git-receive-pack|info\/lfs\/objects\/batch|info\/lfs\/locks(?:\/verify|\/[\w-]+\/unlock)?))$/;

/** Total; `undefined` for everything else that a web server answers, so that a token opens nothing but repositories. */
export function readGitRequest(method: string, url: URL): GitRequest | undefined {
  const { host, path, repository, call } = SHAPE.exec(url.pathname)?.groups ?? {};
  if (host === undefined || path === undefined || repository === undefined || call === undefined) return undefined;
  if (call === 'info/refs') {
    const service = url.searchParams.get('service');
    if (method !== 'GET' || (service !== 'git-upload-pack' && service !== 'git-receive-pack')) return undefined;
    return { host, repository, path: `${path}?service=${service}`, operation: service === 'git-receive-pack' ? 'push' : 'fetch' };
  }
  const isLockList = call === 'info/lfs/locks' && method === 'GET';
  if (method !== 'POST' && !isLockList) return undefined;
  const query = call.startsWith('info/lfs/') ? url.search : '';
  return { host, repository, path: path + query, operation: call === 'info/lfs/objects/batch' ? 'lfs' : 'more' };
}
