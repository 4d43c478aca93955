import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  createDockerDriver,
  createLocalDriver,
  createNoneDriver,
  createRemoteDriver,
  otherReapers,
  isWider,
  type SandboxDriver,
  type DriverName,
  type ExecutorFolder,
  type Reaper,
  type RemoteSandboxes,
  type NetworkPolicy,
} from '@tendon/runtime';
import { hasRemoteSandboxes, type Config } from '../platform/config/config.ts';
import type { OutageWait, Strength } from '@tendon/core';
import { probeWhenThere } from './wait-for-hosts.ts';

/** What keeps the agent's work inside, as probed. */
export interface ProbedSandbox {
  readonly driver: DriverName;
  readonly strength: Strength;
  readonly description: string;
  /** Its only egress is our proxy, so a network policy can be enforced. */
  readonly isPoliced: boolean;
}

export interface OpenedDriver {
  readonly driver: SandboxDriver;
  /** For what drivers have left that were configured before. */
  readonly otherReapers: readonly Reaper[];
  readonly sandbox: ProbedSandbox & { readonly limits: readonly string[] };
  /** What a conversation can have at most: as configured, and where sandboxes are remote no more than is given there. */
  readonly network: NetworkPolicy;
}

export type DriverConfig = Pick<Config, 'runtime' | 'home' | 'sandbox' | 'executorHosts' | 'network' | 'container' | 'kubernetes'> & {
  /** Folders that no sandbox sees, beside the home. */
  readonly hidden?: readonly string[];
};

/** The configured driver, probed; with `wait`, when its hosts are there. Rejects with what to do when it cannot be had: never another one in its place. */
export async function openDriver(config: DriverConfig, wait?: OutageWait): Promise<OpenedDriver> {
  const driver = await makeDriver(config);
  const probe = await (wait ? probeWhenThere(driver, wait) : driver.probe());
  if (!probe.available) {
    const instead = hasRemoteSandboxes(config.runtime) ? '' : ' Or set RUNTIME=none to run without one.';
    throw new Error(`The sandbox cannot be had: ${probe.reason}. ${probe.fix}${instead}`);
  }
  const { runtime } = config;
  const passesUs = runtime !== 'docker' || config.container.network === 'proxy';
  const isPoliced = probe.network?.isPoliced ?? (driver.name !== 'none' && passesUs);
  if (!isPoliced && config.network.mode !== 'full')
    throw new Error(
      `SANDBOX_NETWORK=${config.network.mode} cannot be enforced with RUNTIME=${runtime}: its connections do not pass through Tendon${driver.remote?.proxy ? ' there' : ''}.`,
    );
  const given = probe.network?.mode ?? config.network.mode;
  const network = isWider(config.network.mode, given) ? { ...config.network, mode: given } : config.network;
  // What is opened near this host is not near a remote sandbox; git reaches it, whose broker is here.
  const words = networkWords(driver.remote?.proxy ? { ...network, allowPrivate: [] } : network);
  const description = [probe.description, ...(isPoliced ? words : [])].join(', ');
  const { strength, limits } = probe;
  const sandbox = { driver: driver.name, strength, description, limits, isPoliced };
  return { driver, otherReapers: otherReapers(findExecutor(), config.container.host), network, sandbox };
}

async function makeDriver(config: DriverConfig): Promise<SandboxDriver> {
  const { runtime, home, executorHosts, kubernetes, hidden = [], sandbox, container } = config;
  const { limits, protects } = sandbox;
  if (runtime === 'kubernetes') return (await import('@tendon/runtime/kubernetes')).createKubernetesDriver(kubernetes!);
  const [first, ...others] = executorHosts;
  if (runtime === 'remote') return createRemoteDriver(first!, ...others);
  const executor = findExecutor();
  if (runtime === 'none') return createNoneDriver({ executor, limits });
  const options = { executor, limits, hidden: [home, ...hidden], workspacesFolder: join(home, 'workspaces'), protects };
  return runtime === 'docker'
    ? createDockerDriver({ ...options, ...container })
    : createLocalDriver({ ...options, trialFile: join(home, 'sandbox-trial.json') });
}

/** The executor hosts of the configuration, where sandboxes are on such; nothing is asked of them yet. */
export function openHosts({
  runtime,
  executorHosts: [first, ...others],
}: Pick<Config, 'runtime' | 'executorHosts'>): RemoteSandboxes | undefined {
  return runtime === 'remote' && first ? createRemoteDriver(first, ...others).remote : undefined;
}

/** Beside the bundle when published, in the package of the executor otherwise: seen from the bundle in a checkout, or from this file. Throws a user-facing Error when it is missing. */
export function findExecutor(from = import.meta.dirname): ExecutorFolder {
  const places = ['executor', '../executor', '../../executor/dist/executor', '../../../executor/dist/executor'].map((place) =>
    join(from, place),
  );
  const folder = places.find((place) => existsSync(place));
  if (folder === undefined) throw new Error('The program of the sandboxes is not built. Run `npm run build` in the checkout first.');
  return { folder, entry: 'main.mjs', node: process.execPath };
}

/**
 * For the banner and the status bar: the default is omitted, what was opened is shown.
 * @internal
 */
export function networkWords({ mode, allowPrivate }: NetworkPolicy): readonly string[] {
  const width = { none: ['network none'], allowlist: ['network by allowlist'], full: [] }[mode];
  return allowPrivate.length > 0 && mode !== 'none' ? [...width, `OPEN NEAR THIS HOST: ${allowPrivate.join(' ')}`] : width;
}
