import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { letGoOfStill, refuseUpgrade } from '@tendon/protocol/node';
import { reasonOf } from '../action-handler.ts';
import { TooLong } from '../files/failures.ts';
import type { AuthGuard } from './auth-guard.ts';
import { json, type Routes } from './exchange.ts';
import type { Lease } from './lease.ts';

export interface ServerParts {
  readonly guard: AuthGuard;
  /** Renewed by every request. */
  readonly lease: Pick<Lease, 'touch'>;
  readonly routes: Routes;
  /** Takes a connection over. */
  readonly upgrade: (request: IncomingMessage, client: Duplex, head: Buffer) => void;
  /** The server hangs up on a client that stops in the middle after so long. */
  readonly stillMs: number;
}

/** As long as the largest file may take. */
const REQUEST_MS = 30 * 60_000;
const HEADERS_MS = 10_000;
const CHECK_MS = 15_000;
const KEY_OF_EFFECT = /^\/effects\/[^/]+/;

/** The HTTP side of the executor; see `executor-api.ts`. Not listening yet. */
export function createExecutorServer(parts: ServerParts): Server {
  const { guard, lease, upgrade, stillMs } = parts;
  const server = createServer({ connectionsCheckingInterval: Math.min(CHECK_MS, stillMs) }, (request, response) => {
    letGoOfStill(request, response, stillMs);
    void handle(request, response, parts);
  });
  server.on('upgrade', (request: IncomingMessage, client, head) => {
    const refusal = guard(request);
    if (refusal) return refuseUpgrade(client, refusal.status, { error: refusal.error });
    lease.touch();
    upgrade(request, client, head);
  });
  server.headersTimeout = Math.min(HEADERS_MS, stillMs);
  server.requestTimeout = REQUEST_MS;
  server.keepAliveTimeout = 60_000;
  return server;
}

async function handle(request: IncomingMessage, response: ServerResponse, { guard, lease, routes }: ServerParts): Promise<void> {
  const refusal = guard(request);
  if (refusal) return json(response.setHeader('connection', 'close'), { error: refusal.error }, refusal.status);
  lease.touch();
  try {
    const url = new URL(request.url ?? '/', 'http://executor');
    const route = routes[`${request.method} ${url.pathname.replace(KEY_OF_EFFECT, '/effects/:key')}`];
    if (!route) return json(response, { error: 'no such route' }, 404);
    await route({ request, response, url });
  } catch (error) {
    if (response.headersSent) return void response.destroy();
    if (error instanceof TooLong) response.setHeader('connection', 'close');
    json(response, { error: reasonOf(error) }, 400);
  }
}
