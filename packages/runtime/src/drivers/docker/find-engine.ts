import { existsSync } from 'node:fs';
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

const DOCKER = '/var/run/docker.sock';

/** Of Docker and Podman, those of this user first. */
function usualSockets(runtimeDir: string | undefined): readonly string[] {
  const own = runtimeDir === undefined ? [] : [join(runtimeDir, 'docker.sock'), join(runtimeDir, 'podman/podman.sock')];
  return [...own, DOCKER, '/run/podman/podman.sock'];
}
