import { mkdirSync } from 'node:fs';
import { dirname, sep } from 'node:path';
import type { ExecutorConfig } from '@tendon/protocol/executor-api';

/** The folders that only the executor uses: its journal, its door, the way to the proxy. One that holds the workspace is not its own. */
export function ownFolders(config: ExecutorConfig): string[] {
  mkdirSync(config.stateDir, { recursive: true, mode: 0o700 });
  const sockets = [config.socketPath, config.proxySocketPath].flatMap((path) => (path === undefined ? [] : [dirname(path)]));
  const holdsOther = (folder: string): boolean =>
    [config.workspace, process.env.HOME ?? ''].some((path) => `${path}${sep}`.startsWith(`${folder}${sep}`));
  return [...new Set([config.stateDir, ...sockets])].filter((folder) => !holdsOther(folder));
}
