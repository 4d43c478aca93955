import { join } from 'node:path';
import type { Storage } from '@tendon/core';
import { openSqliteStorage } from '@tendon/core/storage';
import { createDockerDriver, createLocalDriver, createNoneDriver, type SandboxDriver } from '@tendon/runtime';
import { executorFolder, wallClock } from '@tendon/runtime/testing';

/** When the one action of a `sandbox-server.ts` was appended. */
export const APPENDED_AT = '2020-01-01T00:00:00.000Z';

/** By name; `docker=<host>=<image>` for containers. */
export function openDriver(name: string, protects: readonly string[] = []): SandboxDriver {
  const executor = executorFolder();
  const [kind, host, image = ''] = name.split('=');
  if (kind === 'docker') return createDockerDriver({ executor, host, image, protects });
  return name === 'none' ? createNoneDriver({ executor }) : createLocalDriver({ executor, protects });
}

export function openStorage(folder: string): Promise<Storage> {
  return openSqliteStorage({ path: join(folder, 'tendon.db'), blobDir: join(folder, 'blobs'), clock: wallClock });
}
