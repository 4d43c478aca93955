/** A real HTTP server that answers as a git provider's documentation says, and fails on demand. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export interface FakeAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A string is sent as it is, anything else as JSON; `never` leaves the request without an answer. */
  readonly body?: unknown;
}

export type FakeRoutes = Readonly<Record<string, (url: URL, body: string) => FakeAnswer | 'never'>>;

export interface FakeProvider {
  readonly origin: string;
  /** `GET /path?query`, in order. */
  readonly requests: readonly string[];
  /** What came with each of them. */
  readonly bodies: readonly string[];
  /** Every request from now on is answered so. */
  failWith(answer: FakeAnswer | 'never' | undefined): void;
}

/** Routes are `GET /path`; a request without `authorization: <scheme> <token>` is refused. */
export async function fakeProvider(token: string, routes: FakeRoutes): Promise<FakeProvider> {
  const requests: string[] = [];
  const bodies: string[] = [];
  let failure: FakeAnswer | 'never' | undefined;
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await textOf(request);
    const url = new URL(request.url ?? '/', 'http://fake');
    requests.push(`${request.method} ${request.url}`);
    bodies.push(body);
    const isKnown = request.headers.authorization?.split(' ')[1] === token;
    const route = routes[`${request.method} ${decodeURIComponent(url.pathname)}`];
    if (!isKnown) return send(response, { status: 401, body: { message: 'Bad credentials' } });
    send(response, failure ?? route?.(url, body) ?? { status: 404, body: { message: 'Not Found' } });
  };
  const server = createServer((request, response) => {
    void answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { origin, requests, bodies, failWith: (given) => void (failure = given) };
}

function send(response: ServerResponse, answer: FakeAnswer | 'never'): void {
  if (answer === 'never') return;
  const { status = 200, headers, body = {} } = answer;
  const isText = typeof body === 'string';
  response.writeHead(status, { 'content-type': isText ? 'text/plain' : 'application/json', ...headers });
  response.end(isText ? body : JSON.stringify(body));
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const part of request) text += String(part);
  return text;
}
