import { type ClientRequest, type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse, request as httpRequest } from 'node:http';
import type { Readable } from 'node:stream';
import { FENCED_STATUS, OWNER_EPOCH_HEADER } from '@tendon/protocol/executor-api';
import { connectTo, type ExecutorAddress } from './executor-connection.ts';

/**
 * Hands the body of `request` on with `outgoing`, and the answer back, as they come; when either side goes, the other is let go. `begin`
 * writes the head of the answer, or returns false when it has answered in words of its own. Resolves when the answer has begun;
 * rejects when there is none.
 */
export function exchange(
  request: Readable,
  response: ServerResponse,
  outgoing: ClientRequest,
  begin: (answer: IncomingMessage) => boolean,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let hasBegun = false;
  // For as long as the request lives: head and a broken body may be parsed in one go, before an awaited head is seen.
  outgoing.on('error', (error) => (hasBegun ? void response.destroy() : reject(error)));
  outgoing.once('response', (answer) => {
    hasBegun = true;
    answer.on('error', () => response.destroy());
    try {
      if (begin(answer)) answer.pipe(response);
      resolve();
    } catch (error) {
      reject(error);
    }
  });
  response.once('close', () => outgoing.destroy());
  request.pipe(outgoing);
  return promise;
}

/** Only the headers of these names, which are in lower case. */
export function picked({ headers }: IncomingMessage, names: readonly string[]): OutgoingHttpHeaders {
  return Object.fromEntries(names.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]])));
}

/** Headers of one connection only, which a proxy does not pass on. */
export const HOP_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** What an executor answers; anything else is not passed on: it shares its sandbox with the agent, and must not speak for the host. */
const STATUSES: ReadonlySet<number> = new Set([200, 204, 400, 404, FENCED_STATUS]);
const REQUEST_HEADERS = ['accept', 'content-type', 'content-length', 'traceparent', OWNER_EPOCH_HEADER] as const;
const RESPONSE_HEADERS = ['content-type', 'content-length'] as const;

/**
 * Hands a request on to an executor and its answer back, byte by byte as they come. Resolves when the answer has ended or either
 * side is gone; `502` when the executor could not be asked.
 */
export function relay(address: ExecutorAddress, path: string, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const gone = new Promise<void>((resolve) => outgoing.once('close', resolve));
  const asked = openRequest(address, path, incoming);
  exchange(incoming, outgoing, asked, (answer) => {
    if (!STATUSES.has(answer.statusCode ?? 0)) {
      asked.destroy();
      fail(outgoing, `the sandbox answered with status ${answer.statusCode}`);
      return false;
    }
    outgoing.writeHead(answer.statusCode!, {
      ...picked(answer, RESPONSE_HEADERS),
      'content-type': answer.headers['content-type'] ?? 'application/octet-stream',
      'x-content-type-options': 'nosniff',
      // It was answered before its end: nobody reads the rest.
      ...(!incoming.complete && { connection: 'close' }),
    });
    outgoing.flushHeaders();
    return true;
  }).catch((error: Error) => fail(outgoing, error.message));
  return gone;
}

function openRequest(address: ExecutorAddress, path: string, incoming: IncomingMessage) {
  // An executor that hung up after its answer could do so while the end of the request is still being written.
  const headers = { ...picked(incoming, REQUEST_HEADERS), connection: 'keep-alive' };
  const { method } = incoming;
  if ('socketPath' in address) {
    return httpRequest({ method, path, headers, host: 'executor', createConnection: () => connectTo(address.socketPath) });
  }
  return httpRequest(address.url + path, { method, headers: { ...headers, ...address.headers() } });
}

function fail(outgoing: ServerResponse, why: string): void {
  if (outgoing.headersSent) return void outgoing.destroy();
  const body = JSON.stringify({ detail: `the sandbox could not be asked: ${why}` });
  outgoing.writeHead(502, { 'content-type': 'application/json' }).end(body);
}
