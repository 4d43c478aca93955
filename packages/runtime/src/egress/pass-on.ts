import {
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { exchange, HOP_HEADERS } from '../transport/exchange.ts';

export interface Target {
  /** Connected; it is used for this request alone. */
  readonly socket: Socket;
  /** As it stands in the request's first line. */
  readonly path: string;
  readonly host: string;
  /** In place of the request's own; where it breaks, so does the request. */
  readonly body?: Readable;
}

const IDLE_MS = 10 * 60_000;

/** Hands a request on and its answer back, as they come. Resolves when the answer has begun; rejects when there is none. */
export async function passOn(
  request: IncomingMessage,
  response: ServerResponse,
  { socket, path, host, body = request }: Target,
): Promise<void> {
  const headers = { ...lasting(request.headers), host, connection: 'close' };
  const outgoing = httpRequest({ method: request.method, path, headers, createConnection: () => socket });
  outgoing.setTimeout(IDLE_MS, () => outgoing.destroy());
  if (body !== request) body.once('error', (error) => outgoing.destroy(error));
  await exchange(body, response, outgoing, (answer) => {
    response.writeHead(answer.statusCode ?? 502, lasting(answer.headers));
    return true;
  });
}

function lasting(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_HEADERS.has(name)));
}
