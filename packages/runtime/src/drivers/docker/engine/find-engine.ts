import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';

export type FoundEngine = { readonly socketPath: string } | { readonly problem: string };

/** Where the engine's unix socket is: at `host` (`unix:///path` or a path), or the first usual place where there is one. */
export function findEngine(host: string | undefined, runtimeDir = process.env.XDG_RUNTIME_DIR): FoundEngine {
  if (host === undefined || host === '') {
    const usual = usualSockets(runtimeDir);
    return { socketPath: usual.find((path) => existsSync(path)) ?? DOCKER };
  }
  const path = host.replace(/^unix:\/\//, '');
  if (path.startsWith('/')) return { socketPath: path };
  return { problem: `the container engine must be on this machine, at a unix socket, and not at ${host}` };
}

/** Every one that is there: the one at `host`, if that is on this machine, those at the usual places, and those that are known. */
export function engineSockets(
  host: string | undefined,
  known: readonly string[],
  runtimeDir = process.env.XDG_RUNTIME_DIR,
): readonly string[] {
  const given = findEngine(host, runtimeDir);
  const all = new Set([...('socketPath' in given ? [given.socketPath] : []), ...usualSockets(runtimeDir), ...known]);
  // Two names of one engine are one.
  return [...new Map([...all].filter((path) => existsSync(path)).map((path) => [realpathSync(path), path])).values()];
}

const DOCKER = '/var/run/docker.sock';

/** Of Docker and Podman, those of this user first. */
function usualSockets(runtimeDir: string | undefined): readonly string[] {
  const own = runtimeDir === undefined ? [] : [join(runtimeDir, 'docker.sock'), join(runtimeDir, 'podman/podman.sock')];
  return [...own, DOCKER, '/run/podman/podman.sock'];
}
