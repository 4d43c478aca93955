import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { letGoOfStill, refuseUpgrade } from '@tendon/protocol/node';
import { reasonOf } from '../action-handler.ts';
import { TooLong } from '../files/failures.ts';
import type { AuthGuard } from './auth-guard.ts';
import { json, type Routes } from './exchange.ts';
import type { Lease } from './lease.ts';
import type { OwnerEpoch } from './owner-epoch.ts';

export interface ServerParts {
  readonly guard: AuthGuard;
  readonly ownerEpoch: Pick<OwnerEpoch, 'refusal'>;
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
/** Beside whatever is a GET: these change nothing, and are answered to a server that is not the owner any more. */
const READS: ReadonlySet<string> = new Set([
  'POST /list_files',
  'POST /lines_to_edit',
  'POST /compare_checkpoint',
  'POST /checkpoint_file',
]);

/** The HTTP side of the executor; see `executor-api.ts`. Not listening yet. */
export function createExecutorServer(parts: ServerParts): Server {
  const { guard, ownerEpoch, lease, upgrade, stillMs } = parts;
  const server = createServer({ connectionsCheckingInterval: Math.min(CHECK_MS, stillMs) }, (request, response) => {
    letGoOfStill(request, response, stillMs);
    void handle(request, response, parts);
  });
  server.on('upgrade', (request: IncomingMessage, client, head) => {
    const refusal = guard(request) ?? ownerEpoch.refusal(request.headers, true);
    if (refusal) return refuseUpgrade(client, refusal.status, { error: refusal.error });
    lease.touch();
    upgrade(request, client, head);
  });
  server.headersTimeout = Math.min(HEADERS_MS, stillMs);
  server.requestTimeout = REQUEST_MS;
  server.keepAliveTimeout = 60_000;
  return server;
}

async function handle(request: IncomingMessage, response: ServerResponse, parts: ServerParts): Promise<void> {
  const { guard, ownerEpoch, lease, routes } = parts;
  const refusal = guard(request);
  if (refusal) return json(response.setHeader('connection', 'close'), { error: refusal.error }, refusal.status);
  try {
    const url = new URL(request.url ?? '/', 'http://executor');
    const name = `${request.method} ${url.pathname.replace(KEY_OF_EFFECT, '/effects/:key')}`;
    const stale = ownerEpoch.refusal(request.headers, request.method !== 'GET' && !READS.has(name));
    // The rest of the body is read and dropped: an answer before a reset can be lost.
    if (stale) return json(response, { error: stale.error }, stale.status);
    lease.touch();
    const route = routes[name];
    if (!route) return json(response, { error: 'no such route' }, 404);
    await route({ request, response, url });
  } catch (error) {
    if (response.headersSent) return void response.destroy();
    if (error instanceof TooLong) response.setHeader('connection', 'close');
    json(response, { error: reasonOf(error) }, 400);
  }
}
