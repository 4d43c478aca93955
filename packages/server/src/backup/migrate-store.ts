import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '@tendon/core';
import type { CopySummary } from '@tendon/core/postgres';
import type { Secret } from '@tendon/protocol/masking';

export interface MigrateOptions {
  readonly home: string;
  /** The address of the Postgres. */
  readonly databaseUrl: Secret;
  readonly direction: 'to-database' | 'to-home';
  readonly clock: Clock;
  readonly onProgress: (done: { readonly conversations: number; readonly events: number }) => void;
  readonly onProblem: (sentence: string) => void;
}

/**
 * Copies conversations, settings, secrets and keys between a home and a database, and compares what it wrote. The source stays as it is; an
 * interrupted copy is continued by the next one. Rejects with a user-facing Error, also while a server has either of them.
 */
export async function migrateStore({ home, databaseUrl, direction, clock, ...reports }: MigrateOptions): Promise<CopySummary> {
  const path = join(home, 'tendon.db');
  if (direction === 'to-database' && !(await stat(path).catch(() => undefined)))
    throw new Error(`${home} has nothing to migrate: no tendon.db is there.`);
  const { copyStore, openPostgresRows, openSqliteRows } = await import('@tendon/core/postgres');
  await using local = await openSqliteRows({ path, blobDir: join(home, 'blobs'), clock });
  await using database = await openPostgresRows(databaseUrl.reveal(), clock);
  return await (direction === 'to-database' ? copyStore(local, database, reports) : copyStore(database, local, reports));
}
