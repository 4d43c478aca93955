import { join } from 'node:path';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { UpgradeProgress } from '@tendon/core/storage';
import { banner } from './banner.ts';
import { composeEngine, type ComposedEngine, type ComposeOptions } from './compose.ts';
import type { CloseOptions } from './engine.ts';
import type { Config, HttpConfig } from '../platform/config/config.ts';
import { drainOnce } from './drain-server.ts';
import { healthRoutes } from './health-routes.ts';
import { createApp } from './http-app.ts';
import { LateClients } from './late-clients.ts';
import { CLIENT_TIMEOUTS, type ClientTimeouts } from '../platform/http/client-timeouts.ts';
import type { ServerContext } from './context.ts';
import { listenError, urlOf, openSockets } from '../platform/http/listening.ts';
import { findWebRoot } from '../web-app/web-files.ts';
import { LoopWatch } from '../platform/loop-watch.ts';
import { makeHome } from '../platform/make-home.ts';
import { Measures } from '../observability/measures.ts';
import { Metrics, type Gauges } from '../platform/metrics.ts';
import { storedSecret } from '../platform/auth/stored-secret.ts';
import { previewPlace } from '../platform/preview-site.ts';
import { isLoopbackBind } from '../platform/loopback.ts';
import { forgetAddress, keepAddress } from '../platform/server-address.ts';
import { WrongKeys } from '../platform/http/wrong-keys.ts';
import { systemClock } from '../platform/system-clock.ts';
import { VERSION } from '../platform/version.ts';

export interface RunningServer {
  /** With the port that was really bound. */
  readonly url: string;
  readonly engine: ComposedEngine;
  /** What to show the person who started it. */
  readonly banner: string;
  /** Connections that clients hold, of whatever protocol. */
  openSockets(): number;
  /** Before `close`, while other servers go on. */
  drain(): Promise<void>;
  /** Stops accepting, closes the sockets, lets appends finish. */
  close(options?: CloseOptions): Promise<void>;
}

export interface ServerOptions extends Partial<ComposeOptions> {
  /** The folder of the built web app; default: found beside the program. */
  readonly webRoot?: string;
  readonly timeouts?: ClientTimeouts;
  /** How long a person's own shell stays without a key struck; default 30 minutes. */
  readonly shellIdleMs?: number;
  /** For its own process alone: no other finds it, nothing that was at work goes on, and it waits for no database. Default: false. */
  readonly isPrivate?: boolean;
}

/** How long clients may take to hang up when the server leaves. */
const CLOSE_MS = 500;

/** Listens, then wakes what was at work. Rejects with an Error whose message can be shown. */
export async function startServer(given: Config, options: ServerOptions = {}): Promise<RunningServer> {
  const clock = options.clock ?? systemClock;
  await makeHome(given.home);
  const config = await withKey(given);
  const loop = new LoopWatch();
  const measures = new Measures();
  const engine = await openEngine(config, { ...options, clock, loop, measures });
  const { logger } = engine;
  const metrics = metricsOf(engine, { home: config.home, loop, measured: () => measures.instruments });
  const webRoot = options.webRoot ?? config.webRoot ?? findWebRoot(import.meta.dirname);
  const openApi = async () => (await import('./openapi.ts')).openApiDocument(context);
  const timeouts = options.timeouts ?? CLIENT_TIMEOUTS;
  const wrongKeys = new WrongKeys(clock, (address) => engine.audit?.failedLogin(address, 'key'));
  const cluster = engine.scheduler.self && (await import('../cluster/join-cluster.ts'));
  const peers = cluster && new cluster.Peers(engine);
  const drain = drainOnce({ ...engine, seconds: config.drainSeconds, hangUp: () => clients.served?.hangUp() });
  const published = { version: VERSION, webRoot, openApi };
  const context: ServerContext = { ...engine, ...published, config, metrics, timeouts, logger, wrongKeys, peers, drain };
  const app = await createApp(context, [healthRoutes]);
  const sockets = openSockets(app.server);
  const clients = new LateClients(app.server, {
    async load() {
      loop.begun('the loading of what serves clients');
      return (await import('./serve-clients.ts')).serveClients(app.server, context, options.shellIdleMs);
    },
    isForPreview: ({ headers }) => previewPlace(headers.host, config.previews) !== undefined,
    onFailure: (cause) => logger.error({ err: cause }, 'what serves clients cannot be loaded'),
  });
  // Peers pass on what their clients send.
  const forwarding = cluster?.joinCluster(app.server, (await clients.load()).io, context);
  try {
    await app.listen({ port: config.port, host: config.host });
  } catch (cause) {
    await Promise.allSettled([clients.close(), app.close(), engine.close()]);
    throw listenError(cause, config);
  }
  loop.start((block) => logger.warn(block, 'the event loop was blocked'));
  if (!options.isPrivate) void engine.wake().catch((cause: unknown) => logger.error({ err: cause }, 'waking what was at work failed'));
  let closing: Promise<void> | undefined;
  const url = urlOf(app.server.address(), config.host);
  const isRoot = process.getuid?.() === 0;
  if (!options.isPrivate) await keepAddress(config.home, url);
  const close = async (how?: CloseOptions) => {
    await forgetAddress(config.home);
    const cutOff = setTimeout(() => sockets.destroyAll(), CLOSE_MS);
    for (const each of [forwarding, peers]) each?.close();
    await Promise.allSettled([clients.close(), app.close()]);
    clearTimeout(cutOff);
    loop.close();
    await engine.close(how);
  };
  return {
    url,
    engine,
    openSockets: () => sockets.count,
    drain,
    banner: banner({ url, config, engine, generatedKey: given.sessionApiKey ? undefined : config.sessionApiKey?.reveal(), isRoot }),
    close: (how) => (closing ??= close(how)),
  };
}

function openEngine(config: Config, options: ComposeOptions & Pick<ServerOptions, 'isPrivate'>): Promise<ComposedEngine> {
  const starting = new StartingServer(config);
  const onUpgrade = (progress: UpgradeProgress): void => starting.say(upgradeMessage(progress));
  // The user of a private one reads the error instead.
  const onOutage = options.isPrivate ? undefined : () => starting.say('The database does not answer: the server waits for it.');
  const onHostsAway = options.isPrivate ? undefined : () => starting.say('No executor host answers: the server waits for one.');
  return composeEngine(config, { ...options, onUpgrade, onOutage, onHostsAway }).finally(() => starting.close());
}

function upgradeMessage(progress: UpgradeProgress): string {
  return progress.doing === 'copying'
    ? `The store of an earlier version is being copied before it is changed: ${progress.percent} %.`
    : 'The store of an earlier version is being changed for this one; a copy of it was made.';
}

function metricsOf({ conversations, runtimes, clock }: ComposedEngine, rest: Pick<Gauges, 'home' | 'loop' | 'measured'>): Metrics {
  return new Metrics({ openConversations: () => conversations.openCount, sandboxes: () => runtimes.counts(), ...rest }, clock.now());
}

/** A client from another machine needs a key, and one of this machine where that is wanted or there are users; a generated key is stored, so that a restart locks nobody out. */
async function withKey(config: Config): Promise<Config> {
  if (config.sessionApiKey || (isLoopbackBind(config.host) && !config.localToken && !config.oidc)) return config;
  return { ...config, sessionApiKey: await storedSecret(join(config.home, 'session-api-key')) };
}

/** In seconds, for `Retry-After`. */
const RETRY_AFTER = '2';

/**
 * Listens at the server's address while the store of an earlier version is upgraded or what it needs is waited for, which can take minutes: every
 * request is answered that the server is starting, and with what it is doing. Owns the address from the first `say` until `close`.
 */
class StartingServer {
  readonly #config: Pick<HttpConfig, 'host' | 'port'>;
  #server: Server | undefined;
  #message = '';

  constructor(config: Pick<HttpConfig, 'host' | 'port'>) {
    this.#config = config;
  }

  /** Sets what the server is doing; the first call begins to listen. */
  say(message: string): void {
    this.#message = message;
    this.#server ??= this.#listen();
  }

  async close(): Promise<void> {
    const server = this.#server;
    if (!server?.listening) return void server?.close();
    server.close().closeAllConnections();
    await once(server, 'close');
  }

  #listen(): Server {
    const server = createServer((request, response) => {
      request.resume();
      response.writeHead(503, { 'content-type': 'application/json', 'retry-after': RETRY_AFTER, 'cache-control': 'no-store' });
      response.end(JSON.stringify({ status: 'starting', message: this.#message }));
    });
    // An unavailable address is reported when the server itself listens.
    server.on('error', () => {});
    return server.listen(this.#config);
  }
}
