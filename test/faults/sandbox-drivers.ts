import { join } from 'node:path';
import type { Storage } from '@tendon/core';
import { openSqliteStorage } from '@tendon/core/storage';
import { createDockerDriver } from '../../packages/runtime/src/drivers/docker/docker-driver.ts';
import { createLocalDriver } from '../../packages/runtime/src/drivers/local/local-driver.ts';
import { createNoneDriver } from '../../packages/runtime/src/drivers/none/none-driver.ts';
import type { Driver } from '../../packages/runtime/src/drivers/driver.ts';
import { executorFolder, wallClock } from '../../packages/runtime/src/sandbox.test-support.ts';

/** By name; `docker=<host>=<image>` for containers. */
export function openDriver(name: string, protects: readonly string[] = []): Driver {
  const executor = executorFolder();
  const [kind, host, image = ''] = name.split('=');
  if (kind === 'docker') return createDockerDriver({ executor, host, image, protects });
  return name === 'none' ? createNoneDriver({ executor }) : createLocalDriver({ executor, protects });
}

export function openStorage(folder: string): Promise<Storage> {
  return openSqliteStorage({ path: join(folder, 'tendon.db'), blobDir: join(folder, 'blobs'), clock: wallClock });
}
