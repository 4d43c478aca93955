import { createDockerDriver } from './docker/docker-driver.ts';
import { engineSockets } from './docker/engine/engine-client.ts';
import { unmountNamed } from './docker/held-mount.ts';
import type { ExecutorFolder } from './start/executor-folder.ts';
import { createLocalDriver } from './local/local-driver.ts';
import { createNoneDriver } from './none/none-driver.ts';
import type { Reaper } from './driver.ts';

/**
 * For what the drivers of this host have left that are not the configured one, and for every container engine that is in reach when
 * it is asked: the one at `host`, those at the usual places, and the one that a record names. They start nothing.
 */
export function otherReapers(executor: ExecutorFolder, host: string | undefined): readonly Reaper[] {
  const engines = (...known: readonly string[]): readonly Reaper[] =>
    engineSockets(host, known).map((socket) => createDockerDriver({ executor, image: '', host: socket }));
  const local = createLocalDriver({ executor });
  const docker: Reaper = {
    name: 'docker',
    // What an engine has started is a process of this host, whether the engine is in reach or not.
    isAlive: local.isAlive,
    async end(handle) {
      await Promise.all(engines(...(handle.engine === undefined ? [] : [handle.engine])).map((engine) => engine.end(handle)));
      await local.end(handle);
    },
    async endIncarnations(incarnations) {
      await Promise.all(engines().map((engine) => engine.endIncarnations(incarnations)));
      await local.endIncarnations(incarnations);
      await unmountNamed(incarnations);
    },
    strays: async (stateRoot) => (await Promise.all(engines().map((engine) => engine.strays?.(stateRoot) ?? []))).flat(),
  };
  return [local, docker, createNoneDriver({ executor })];
}
