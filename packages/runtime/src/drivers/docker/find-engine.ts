import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Sockets of Docker and Podman, rootless ones of this user first. */
function usualSockets(runtimeDir: string | undefined): readonly string[] {
  const own = runtimeDir === undefined ? [] : [join(runtimeDir, 'docker.sock'), join(runtimeDir, 'podman/podman.sock')];
  return [...own, '/var/run/docker.sock', '/run/podman/podman.sock'];
}

/**
 * The engine's unix socket: of `host` (`unix:///path` or a path), or the first usual one that exists. Throws where the host is
 * another machine: a sandbox needs this one's folders.
 */
export function findEngine(host: string | undefined, runtimeDir = process.env.XDG_RUNTIME_DIR): string {
  if (host === undefined || host === '') {
    const usual = usualSockets(runtimeDir);
    return usual.find((path) => existsSync(path)) ?? '/var/run/docker.sock';
  }
  const path = host.replace(/^unix:\/\//, '');
  if (path.startsWith('/')) return path;
  throw new Error(`the container engine must be on this machine, at a unix socket; DOCKER_HOST is ${host}. Set DOCKER_HOST=unix:///path`);
}
