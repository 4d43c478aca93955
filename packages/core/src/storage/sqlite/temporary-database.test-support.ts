/** For tests: a database in a folder of its own, which goes with it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { manualClock } from '../contract/manual-clock.ts';
import type { Storage } from '../storage.ts';
import { openSqliteStorage, type SqliteStorageOptions } from './open-sqlite-storage.ts';

export interface TemporaryDatabase {
  readonly dir: string;
  readonly path: string;
  readonly blobDir: string;
  open(options?: Partial<SqliteStorageOptions>): Promise<Storage>;
  close(): Promise<void>;
  dispose(): Promise<void>;
}

export function temporaryDatabase(): TemporaryDatabase {
  const dir = mkdtempSync(join(tmpdir(), 'tendon-storage-'));
  const place = { path: join(dir, 'tendon.db'), blobDir: join(dir, 'blobs') };
  const opened: Storage[] = [];
  return {
    dir,
    ...place,
    async open(options) {
      const storage = await openSqliteStorage({ ...place, clock: manualClock(), ...options });
      opened.push(storage);
      return storage;
    },
    async close() {
      for (const storage of opened.splice(0)) await storage.close();
    },
    async dispose() {
      for (const storage of opened) await storage.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
