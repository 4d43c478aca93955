import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createLocalDriver, createNoneDriver, type Driver, type ExecutorFolder } from '@tendon/runtime';
import type { Config } from './config.ts';
import type { Engine } from './engine.ts';
import { networkWords } from './network/network-words.ts';

/** The configured driver, probed. Rejects with what to install when it can not be had: never another one in its place. */
export async function openDriver({
  runtime,
  home,
  sandbox: { limits },
  network,
}: Config): Promise<{ readonly driver: Driver; readonly sandbox: Engine['sandbox'] }> {
  const executor = findExecutor(import.meta.dirname);
  const driver =
    runtime === 'none'
      ? createNoneDriver({ executor, limits })
      : createLocalDriver({ executor, limits, hidden: [home], workspacesFolder: join(home, 'workspaces') });
  const probe = await driver.probe();
  if (!probe.available)
    throw new Error(`The sandbox can not be had: ${probe.reason}. ${probe.fix} Or set RUNTIME=none to run without one.`);
  const isPoliced = driver.name !== 'none' && !driver.isElsewhere;
  if (!isPoliced && network.mode !== 'full')
    throw new Error(`SANDBOX_NETWORK=${network.mode} can not be kept with RUNTIME=${runtime}: its connections do not pass through Tendon.`);
  const description = [probe.description, ...(isPoliced ? networkWords(network) : [])].join(', ');
  return { driver, sandbox: { driver: driver.name, strength: probe.strength, description, isPoliced } };
}

/** Beside the bundle when published, in the workspace of the runtime package otherwise. */
function findExecutor(from: string): ExecutorFolder {
  const places = ['executor', '../executor', '../../runtime/dist/executor'].map((place) => join(from, place));
  const folder = places.find((place) => existsSync(place)) ?? places.at(-1)!;
  return { folder, entry: 'main.mjs', node: process.execPath };
}
