import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import { pipeline } from 'node:stream/promises';
import type { Alive, ExecuteLine, ExecuteRequest, SuspendAnswer } from '@tendon/protocol/executor-api';
import { letGoOfStill, refuseUpgrade } from '@tendon/protocol/node';
import type { AuthGuard } from './auth-guard.ts';
import type { Effects } from '../effects/effects.ts';
import type { Lease } from './lease.ts';
import { reasonOf } from '../action-handler.ts';
import type { Plugins } from '../plugins/open-plugins.ts';
import type { PortWatch } from '../ports/port-watch.ts';
import type { Tunnels } from './tunnel.ts';
import type { ProcessEndpoint } from './process-endpoint.ts';
import { TooLong } from '../files/failures.ts';
import { jsonFields } from './json-fields.ts';
import type { ServerInfo } from './server-info.ts';
import type { LinesToEditOf } from '../files/edit/lines-to-edit.ts';
import type { HibernateOptions } from '../suspend/hibernate.ts';
import type { SandboxFiles } from '../files/sandbox-files.ts';

export interface Parts {
  readonly guard: AuthGuard;
  readonly alive: Alive;
  readonly info: () => Promise<ServerInfo & { readonly plugins: ReturnType<Plugins['states']> }>;
  readonly effects: Effects;
  readonly files: SandboxFiles;
  readonly linesToEdit: LinesToEditOf;
  readonly lease: Lease;
  readonly ports: PortWatch;
  readonly tunnels: Tunnels;
  readonly processes: ProcessEndpoint;
  readonly plugins: Plugins;
  /** Ends it with its state stored, or says why it cannot. */
  readonly hibernate: (request: HibernateOptions) => Promise<SuspendAnswer>;
  /** Stops what the agent started, in place. */
  readonly suspend: () => SuspendAnswer;
  /** Before anything is asked of what the agent started. */
  readonly resume: () => void;
  /** Of the agent: whatever it has started. */
  readonly endWork: () => Promise<void>;
  readonly shutdown: () => void;
  /** A client that stops in the middle is let go after so long. */
  readonly stillMs: number;
}

type Route = (request: IncomingMessage, response: ServerResponse, url: URL, parts: Parts) => Promise<void> | void;

const MAX_ACTION_BYTES = 64 * 1024 * 1024;
const MAX_SMALL_BODY = 64 * 1024;
/** As long as the largest file may take. */
const REQUEST_MS = 30 * 60_000;
const HEADERS_MS = 10_000;
const CHECK_MS = 15_000;
/** So often a stream without news says that it is there, with an empty line. */
const STILL_HERE_MS = 15_000;

const ROUTES: Readonly<Record<string, Route>> = {
  'GET /alive': (_request, response, _url, { alive }) => json(response, alive),
  'GET /watch': (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/x-ndjson' });
    response.flushHeaders();
    sayStillHere(response);
  },
  'GET /server_info': async (_request, response, _url, { info }) => json(response, await info()),
  'POST /execute_action': execute,
  'POST /list_files': async (request, response, _url, { files }) => {
    const body = await jsonFields(request, MAX_SMALL_BODY);
    json(response, await files.list(body.text('path', '')));
  },
  'GET /files': async (_request, response, url, { files }) => {
    const { stream, bytes } = await files.open(url.searchParams.get('path') ?? '');
    response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': bytes });
    // Also when who asked is gone in the middle: a pipe alone would leave the file open.
    await pipeline(stream, response).catch(() => {});
  },
  'PUT /files': async (request, response, url, { files }) => {
    await files.write(url.searchParams.get('path') ?? '', request);
    empty(response);
  },
  'POST /lines_to_edit': async (request, response, _url, { linesToEdit }) => {
    const body = await jsonFields(request, MAX_SMALL_BODY);
    json(response, await linesToEdit(body.text('path', ''), { start: body.number('start', 1), end: body.number('end', -1) }));
  },
  'GET /ports': async (_request, response, _url, { ports }) => json(response, { ports: await ports.list() }),
  'GET /ports/follow': followPorts,
  'POST /plugins/start': async (request, response, _url, { plugins, resume }) => {
    const name = (await jsonFields(request, MAX_SMALL_BODY)).text('name', '');
    resume();
    const plugin = plugins.find(name);
    json(response, plugin ? await plugin.start() : { ok: false, reason: `This sandbox does not have the plugin "${name}".` });
  },
  'POST /lease': async (request, response, _url, { lease }) => {
    const seconds = (await jsonFields(request, MAX_SMALL_BODY)).number('seconds', 0);
    if (!(seconds > 0)) throw new Error('seconds must be a positive number');
    lease.renew(seconds);
    empty(response);
  },
  'POST /sleep': async (request, response, _url, { hibernate, suspend, shutdown }) => {
    const body = await jsonFields(request, MAX_SMALL_BODY);
    const withKernel = body.flag('with_kernel');
    if (body.flag('in_place')) return json(response, suspend());
    // Another server may have come for it by then, which knows nothing of this.
    const isWanted = (): boolean => !request.socket.destroyed;
    const answer = await hibernate({ withKernel, isWanted });
    json(response, answer);
    if (!answer.slept) return;
    response.once('close', shutdown);
  },
  'POST /end_work': async (_request, response, _url, { endWork, resume }) => {
    resume();
    await endWork();
    empty(response);
  },
  'POST /shutdown': (_request, response, _url, { shutdown }) => {
    response.once('finish', shutdown);
    empty(response);
  },
};

/** The HTTP side of the executor; see `executor-api.ts`. Not listening yet. */
export function createExecutorServer(parts: Parts): Server {
  const { stillMs } = parts;
  const server = createServer({ connectionsCheckingInterval: Math.min(CHECK_MS, stillMs) }, (request, response) => {
    letGoOfStill(request, response, stillMs);
    void handle(request, response, parts);
  });
  server.on('upgrade', (request: IncomingMessage, client, head) => {
    const refusal = parts.guard(request);
    if (refusal) return refuseUpgrade(client, refusal.status, { error: refusal.error });
    parts.lease.touch();
    parts.resume();
    const endpoint = request.url === '/process' && request.headers.upgrade === 'tcp' ? parts.processes : parts.tunnels;
    endpoint.join(request, client, head);
  });
  server.headersTimeout = Math.min(HEADERS_MS, stillMs);
  server.requestTimeout = REQUEST_MS;
  server.keepAliveTimeout = 60_000;
  return server;
}

async function handle(request: IncomingMessage, response: ServerResponse, parts: Parts): Promise<void> {
  const refusal = parts.guard(request);
  if (refusal) return json(response.setHeader('connection', 'close'), { error: refusal.error }, refusal.status);
  parts.lease.touch();
  try {
    const url = new URL(request.url ?? '/', 'http://executor');
    const output = /^\/effects\/([^/]+)\/output$/.exec(url.pathname);
    if (output && request.method === 'GET') return outputRoute(response, decodeURIComponent(output[1]!), url, parts);
    const effect = /^\/effects\/([^/]+)(\/cancel)?$/.exec(url.pathname);
    if (effect)
      return effectRoute(request, response, { key: decodeURIComponent(effect[1]!), isCancel: effect[2] !== undefined, url }, parts);
    const route = ROUTES[`${request.method} ${url.pathname}`];
    if (!route) return json(response, { error: 'no such route' }, 404);
    await route(request, response, url, parts);
  } catch (error) {
    if (response.headersSent) return void response.destroy();
    if (error instanceof TooLong) response.setHeader('connection', 'close');
    json(response, { error: reasonOf(error) }, 400);
  }
}

function effectRoute(
  { method }: IncomingMessage,
  response: ServerResponse,
  { key, isCancel, url }: { readonly key: string; readonly isCancel: boolean; readonly url: URL },
  { effects }: Parts,
): void {
  if (method !== (isCancel ? 'POST' : 'GET')) return json(response, { error: 'no such route' }, 404);
  const digest = url.searchParams.get('digest') ?? undefined;
  if (!isCancel) return json(response, effects.report(key, digest));
  effects.cancel(key, digest);
  empty(response);
}

function outputRoute(response: ServerResponse, key: string, url: URL, { effects }: Parts): void {
  const from = Number(url.searchParams.get('from') ?? 0);
  if (!Number.isSafeInteger(from) || from < 0) throw new Error('from must be an offset in bytes');
  const piece = effects.output(key, from);
  if (!piece) return json(response, { error: 'no output of that key is kept' }, 404);
  response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': piece.length }).end(piece);
}

async function execute(request: IncomingMessage, response: ServerResponse, _url: URL, { effects, resume }: Parts): Promise<void> {
  const { all } = await jsonFields(request, MAX_ACTION_BYTES);
  resume();
  const lines = effects.execute(all as unknown as ExecuteRequest)[Symbol.asyncIterator]();
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  response.writeHead(200, { 'content-type': 'application/x-ndjson' });
  response.flushHeaders();
  sayStillHere(response);
  for (let next = await lines.next(); !next.done && !gone.signal.aborted; next = await lines.next())
    await send(response, next.value, gone.signal);
  response.end();
}

function sayStillHere(response: ServerResponse): void {
  const timer = setInterval(() => response.writableNeedDrain || response.write('\n'), STILL_HERE_MS);
  response.once('close', () => clearInterval(timer));
}

async function followPorts(_request: IncomingMessage, response: ServerResponse, _url: URL, { ports }: Parts): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  response.writeHead(200, { 'content-type': 'application/x-ndjson' });
  response.flushHeaders();
  sayStillHere(response);
  for await (const list of ports.follow(gone.signal)) {
    // Who does not read is let go: the list is short, and whoever comes back gets it whole.
    if (!response.write(`${JSON.stringify({ ports: list })}\n`)) response.destroy();
  }
  response.end();
}

async function send(response: ServerResponse, line: ExecuteLine, signal: AbortSignal): Promise<void> {
  // As bytes: of a text with other characters than those of ASCII they are made several times as fast here as by the stream.
  if (response.write(Buffer.from(`${JSON.stringify(line)}\n`))) return;
  await once(response, 'drain', { signal }).catch(() => {}); // the client left: the loop sees it
}

function json(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function empty(response: ServerResponse): void {
  response.writeHead(204).end();
}
