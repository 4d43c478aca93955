import { ServerResponse, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { isOriginAllowed } from '../platform/auth/authorize.ts';
import { authorizePreview, enterPreview, entryIn, renewed } from './authorize-preview.ts';
import { forwardRequest, forwardUpgrade } from './forward-request.ts';
import { createPreviewKeys } from './preview-keys.ts';
import { PAGES, sendPage, notServed, type PreviewPage } from './preview-page.ts';
import { LOOPBACK_SITE, previewPlace, type PreviewPlace, type PreviewPort } from '../platform/preview-site.ts';
import type { Clock } from '@tendon/core';
import type { Secret } from '@tendon/protocol/masking';
import { NotServed, type SandboxPorts, type SandboxPool } from '@tendon/runtime';
import type { AccessConfig, Config, HttpConfig } from '../platform/config/config.ts';
import type { Conversations } from '../conversations/conversations.ts';

export interface PreviewContext extends ReachContext {
  readonly config: Config;
  readonly jwtSecret: Secret;
  readonly clock: Clock;
}

/** So often the system asks a silent peer whether it is still there. */
const ALIVE_MS = 30_000;

/** Answers a request whose `Host` is below the name of previews, and one that is to become a WebSocket (`upgrade`). */
export async function servePreview(
  context: PreviewContext,
  request: IncomingMessage,
  response: ServerResponse,
  upgrade?: { readonly client: Duplex; readonly head: Buffer },
): Promise<void> {
  const { jwtSecret, clock, config } = context;
  const site = config.previews;
  const place = previewPlace(request.headers.host, site);
  if (place === undefined || place === 'unknown') return sendPage(request, response, PAGES.unknown);
  request.socket.setKeepAlive(true, ALIVE_MS);
  const keys = createPreviewKeys(jwtSecret, clock);
  const entry = entryIn(request.url ?? '/');
  if (entry) {
    if (request.headers.origin === undefined) return enterPreview(request, response, { ...entry, place, site, keys });
    const opened = keys.read(entry.token, place);
    return sayWhetherServed(context, request, response, { ...place, conversationId: opened?.conversationId });
  }
  const access = authorizePreview(request, place, keys);
  if (!access.ok) return sendPage(request, response, PAGES[access.why]);
  const reached = await reachPreview(context, access.conversationId, place.port, request.url ?? '/');
  if (reached.state === 'closed') return sendPage(request, response, reached.page);
  if (reached.state === 'redirect') return leadOn(response, reached.path);
  const { target } = reached;
  if (response.destroyed || request.socket.destroyed) return void target.destroy();
  const key = config.sessionApiKey?.reveal();
  const forwarding = { request, response, target, key, cookies: renewed(access, place, site, keys), policy: framePolicy(config) };
  if (upgrade) forwardUpgrade({ ...forwarding, ...upgrade });
  else forwardRequest(forwarding);
}

/**
 * Who may show a preview in a frame. Below `localhost` each is a site of its own, so a request does not distinguish another preview's frame
 * from the app's: a policy in the answer does. Below a domain of the operator's `authorizePreview` sees it.
 */
function framePolicy({ previews, corsOrigins }: HttpConfig & AccessConfig): string | undefined {
  if (previews.domain !== LOOPBACK_SITE.domain) return undefined;
  const here = ['localhost', '127.0.0.1'].flatMap((name) => [`http://${name}:*`, `https://${name}:*`]);
  const permitted = corsOrigins.filter((origin) => /^https?:\/\/[\w.-]+(?::\d+)?$/.test(origin));
  return ["frame-ancestors 'self'", ...here, ...permitted].join(' ');
}

/** An upgrade that is not carried out is answered like any request. */
export function responseOn(request: IncomingMessage, client: Duplex): ServerResponse {
  const response = new ServerResponse(request);
  response.assignSocket(request.socket);
  response.shouldKeepAlive = false;
  client.on('drain', () => response.emit('drain'));
  response.once('finish', () => client.end());
  return response;
}

function leadOn(response: ServerResponse, location: string): void {
  response.writeHead(303, { location, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer', 'content-length': 0 });
  response.end();
}

/** A page of a frontend looks whether something is there before it shows it, and learns no more. */
async function sayWhetherServed(
  context: PreviewContext,
  request: IncomingMessage,
  response: ServerResponse,
  { port, conversationId }: { readonly port: PreviewPlace['port']; readonly conversationId: string | undefined },
): Promise<void> {
  const { origin = '', host = '' } = request.headers;
  if (conversationId === undefined || !isOriginAllowed(origin, host, context.config)) return sendPage(request, response, PAGES.foreign);
  const reached = await reachPreview(context, conversationId, port, '/');
  if (reached.state === 'open') reached.target.destroy();
  response.writeHead(reached.state === 'closed' ? reached.page.status : 204, {
    'access-control-allow-origin': origin,
    vary: 'Origin',
    'cache-control': 'no-store',
  });
  response.end();
}

/** A connection to the program, a page that says why there is none, or a redirect on the same origin. */
type PreviewConnection =
  | { readonly state: 'open'; readonly target: Duplex }
  | { readonly state: 'closed'; readonly page: PreviewPage }
  | { readonly state: 'redirect'; readonly path: string };

interface ReachContext {
  readonly conversations: Conversations;
  readonly runtimes: SandboxPool;
}

const CONNECT_MS = 10_000;
/** An editor starts within seconds or not at all; the browser shows a page meanwhile. */
const EDITOR_MS = 5_000;
const MAX_REMEMBERED = 1_000;
const FIRST_SERVED = new WeakMap<Conversations, Map<string, number>>();

const WITHOUT_SANDBOX: Readonly<Record<PreviewPort, PreviewPage>> = { app: PAGES.nothing, editor: PAGES.waiting };

/**
 * Connects a preview's place to a program in a sandbox. Remembers, as long as that program listens, which program of a
 * conversation listened first, and owns nothing else. `path`: of the request.
 */
async function reachPreview(context: ReachContext, conversationId: string, port: PreviewPort, path: string): Promise<PreviewConnection> {
  const ports = (await context.conversations.get(conversationId)) && context.runtimes.ports(conversationId);
  if (!ports) return closed(WITHOUT_SANDBOX[port] ?? PAGES.suspended);
  try {
    if (port === 'app') return await reachFirst(context, conversationId, ports);
    if (port === 'editor') return await reachEditor(ports, path);
    return await connected(ports, port);
  } catch (error) {
    return closed(error instanceof NotServed && typeof port === 'number' ? notServed(port) : PAGES.suspended);
  }
}

async function reachFirst({ conversations }: ReachContext, conversationId: string, ports: SandboxPorts): Promise<PreviewConnection> {
  const remembered = FIRST_SERVED.get(conversations) ?? new Map<string, number>();
  FIRST_SERVED.set(conversations, remembered);
  const before = remembered.get(conversationId);
  if (before !== undefined) {
    try {
      return await connected(ports, before);
    } catch (error) {
      if (!(error instanceof NotServed)) throw error;
      remembered.delete(conversationId);
    }
  }
  const [first] = await ports.list({ signal: AbortSignal.timeout(CONNECT_MS) });
  if (!first) return closed(PAGES.nothing);
  const reached = await connected(ports, first.port);
  remembered.set(conversationId, first.port);
  const [oldest] = remembered.keys();
  if (remembered.size > MAX_REMEMBERED) remembered.delete(oldest!);
  return reached;
}

/** Its own page has a path with a token; `/` leads there. */
async function reachEditor(ports: SandboxPorts, path: string): Promise<PreviewConnection> {
  const waited = new AbortController();
  const tooLong = delay(EDITOR_MS, undefined, { signal: waited.signal, ref: false }).catch(() => undefined);
  const started = await Promise.race([ports.startPlugin('vscode'), tooLong]);
  waited.abort();
  if (!started) return closed(PAGES.starting);
  if (!started.ok || !started.page) return closed(PAGES.noEditor);
  // One slash: two would lead to another host.
  const page = `/${started.page.path.replace(/^[/\\]+/, '')}`;
  return path === '/' && page !== '/' ? { state: 'redirect', path: page } : connected(ports, started.page.port);
}

async function connected(ports: SandboxPorts, port: number): Promise<PreviewConnection> {
  return { state: 'open', target: await ports.connect(port, { signal: AbortSignal.timeout(CONNECT_MS) }) };
}

function closed(page: PreviewPage): PreviewConnection {
  return { state: 'closed', page };
}
