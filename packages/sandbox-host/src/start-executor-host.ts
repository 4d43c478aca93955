import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, type RecordStore } from '@tendon/core';
import { createMask, Secret } from '@tendon/protocol/masking';
import { openSqliteStorage } from '@tendon/core/storage';
import { createSandboxPool, type HostInfo } from '@tendon/runtime';
import {
  type Config,
  createLogger,
  isLoopbackBind,
  storedSecret,
  listenError,
  type Logger,
  makeHome,
  MIN_ACCESS_KEY_LENGTH,
  openSockets,
  systemClock,
  urlOf,
  VERSION,
} from '@tendon/server/platform';
import { makeWorkspaceBase, openDriver, type OpenedDriver } from '@tendon/server/sandboxes';
import { createHostApp } from './host-app.ts';
import { HOST_TIMEOUTS, type HostTimeouts } from './host-context.ts';
import { HostedSandboxes } from './hosted-sandboxes.ts';

export interface RunningHost {
  /** With the port that was really bound. */
  readonly url: string;
  readonly banner: string;
  readonly logger: Logger;
  /** Stops accepting and lets go of the sandboxes; they live on for their leases, to be found again. With `stopSandboxes` they end. */
  close(options?: { readonly stopSandboxes?: boolean }): Promise<void>;
}

export interface HostOptions {
  readonly clock?: Clock;
  readonly logger?: Logger;
  readonly timeouts?: HostTimeouts;
}

const CLOSE_MS = 500;
/** The inverse of `IDLE_MODES`. */
const MODE_ON_WIRE = { hibernate: 'ended', suspend: 'in-place', never: null } as const;

/** Listens. Rejects with an Error whose message can be shown. */
export async function startExecutorHost(config: Config, options: HostOptions = {}): Promise<RunningHost> {
  if (config.runtime === 'remote' || config.runtime === 'kubernetes')
    throw new Error(`The sandboxes of an executor are on its own host: choose another driver than ${config.runtime}.`);
  const clock = options.clock ?? systemClock;
  const home = join(config.home, 'executor');
  await makeHome(home);
  await makeWorkspaceBase(config);
  const { key, isMade } = await keyOf(config, home);
  const logger = options.logger ?? createLogger({ level: config.logLevel, mask: createMask(key ? [key] : []) });
  const opened = await openDriver({ ...config, home, hidden: [config.home] });
  const { isPoliced: is_policed, ...probed } = opened.sandbox;
  const sandbox = {
    ...probed,
    network: { mode: config.network.mode, is_policed },
    sleeps: MODE_ON_WIRE[opened.driver.whenIdle ?? 'never'],
    mounts_read_only: opened.driver.mountsReadOnly === true,
  };
  const warn = (finding: string): void => logger.warn(finding);
  const storage = await openSqliteStorage({ path: join(home, 'executor.db'), blobDir: join(home, 'blobs'), clock, onFinding: warn });
  storage.findings.forEach(warn);
  const sandboxes = hostedSandboxes({ config, home, records: storage.records, opened, clock, logger });
  const access = { host: config.host, allowedHosts: config.allowedHosts, key };
  const { timeouts = HOST_TIMEOUTS } = options;
  const openApi = async () => (await import('./host-openapi.ts')).hostOpenApi();
  const app = await createHostApp({ sandboxes, sandbox, home, access, timeouts, clock, logger, version: VERSION, openApi });
  const sockets = openSockets(app.server);
  const close = async (stop: { readonly stopSandboxes?: boolean } = {}): Promise<void> => {
    const cutOff = setTimeout(() => sockets.destroyAll(), CLOSE_MS);
    await app.close();
    clearTimeout(cutOff);
    await sandboxes.close(stop);
    await storage.close();
  };
  try {
    await sandboxes.open();
    await app.listen({ port: config.port, host: config.host });
  } catch (cause) {
    await close();
    throw listenError(cause, config);
  }
  const url = urlOf(app.server.address(), config.host);
  let closing: Promise<void> | undefined;
  return { url, banner: hostBanner(url, config, sandbox, isMade ? key : undefined), logger, close: (stop) => (closing ??= close(stop)) };
}

interface HostedParts {
  readonly config: Config;
  readonly home: string;
  readonly records: RecordStore;
  readonly opened: OpenedDriver;
  readonly clock: Clock;
  readonly logger: Logger;
}

function hostedSandboxes({ config, home, records, opened, clock, logger }: HostedParts): HostedSandboxes {
  const { driver, otherReapers, sandbox } = opened;
  return new HostedSandboxes({
    records,
    folders: { home, workspaceBase: config.workspaceBase, allowedDirs: [] },
    network: config.network,
    isPoliced: sandbox.isPoliced,
    whenIdle: driver.whenIdle,
    maxLive: config.sandbox.maxLive,
    runtimes: (seams) =>
      createSandboxPool({
        ...seams,
        records,
        // Servers know a sandbox by its incarnation: it keeps that until they end or hibernate it.
        driver: { ...driver, whenIdle: undefined },
        otherReapers,
        idlePlan: {
          idleMs: Infinity,
          maxLive: config.sandbox.maxLive,
          ...(config.sandbox.maxSeconds && { maxMs: config.sandbox.maxSeconds * 1000 }),
        },
        plugins: config.sandbox.plugins,
        checkpoints: config.sandbox.checkpoints,
        output: config.sandbox.output,
        stateRoot: join(home, 'sandboxes'),
        clock,
        onNotice: (notice) => logger.info(notice),
        ...(config.upstreamProxy && { upstreamProxy: config.upstreamProxy }),
      }),
  });
}

/** A client that reaches the port from outside needs a key; a generated one is stored, so that a restart locks nobody out. */
async function keyOf(config: Config, home: string): Promise<{ readonly key: Secret | undefined; readonly isMade: boolean }> {
  const given = config.executorKey ?? (await keyIn(config.executorKeyFile));
  if (given || isLoopbackBind(config.host)) return { key: given, isMade: false };
  return { key: await storedSecret(join(home, 'key')), isMade: true };
}

async function keyIn(file: string | undefined): Promise<Secret | undefined> {
  if (file === undefined) return undefined;
  const text = await readFile(file, 'utf8').catch((cause: Error) => {
    throw new Error(`The key file cannot be read: ${cause.message}`);
  });
  const key = text.trim();
  if (key.length < MIN_ACCESS_KEY_LENGTH)
    throw new Error(`The key file ${file} holds no key: at least ${MIN_ACCESS_KEY_LENGTH} characters are needed.`);
  return new Secret(key);
}

/** What a person wants to know of a host that just started, and how a server is pointed at it. `madeKey`: to be shown once, here. */
function hostBanner(url: string, config: Config, sandbox: HostInfo['sandbox'], madeKey: Secret | undefined): string {
  const lines = [
    ['Executor', url],
    ['sandbox', `${sandbox.strength}: ${sandbox.description}`],
    ['workspace', config.workspaceBase ?? `${config.home}/executor/workspaces/<conversation>`],
    ...(madeKey ? [['key', `${madeKey.reveal()} (stored in ${config.home}/executor/key)`]] : []),
    ['servers', `RUNTIME=remote SANDBOX_REMOTE_RUNTIME_API_URL=${url} SANDBOX_API_KEY=… tendon serve`],
  ];
  return `${lines.map(([name, value]) => `${name!.padEnd(10)} ${value}`).join('\n')}\n`;
}
