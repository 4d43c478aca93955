import { join } from 'node:path';
import type { Storage } from '@tendon/core';
import { openSqliteStorage } from '@tendon/core/storage';
import { createLocalDriver } from '../../packages/runtime/src/drivers/local/local-driver.ts';
import { createNoneDriver } from '../../packages/runtime/src/drivers/none-driver.ts';
import type { Driver } from '../../packages/runtime/src/drivers/driver.ts';
import { executorFolder, wallClock } from '../../packages/runtime/src/sandbox.test-support.ts';

export function openDriver(name: string): Driver {
  const executor = executorFolder();
  return name === 'none' ? createNoneDriver({ executor }) : createLocalDriver({ executor });
}

export function openStorage(folder: string): Promise<Storage> {
  return openSqliteStorage({ path: join(folder, 'tendon.db'), blobDir: join(folder, 'blobs'), clock: wallClock });
}
