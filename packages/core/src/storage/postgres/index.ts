export { openPostgresStorage, type PostgresStorageOptions } from './open-postgres-storage.ts';
export { copyStore, type CopySummary } from '../copy/copy-store.ts';
export { openPostgresRows } from '../copy/postgres-rows.ts';
export { openSqliteRows } from '../copy/sqlite-rows.ts';
export { inspectPostgres, type LeasedServer, type PostgresFacts } from './inspect-postgres.ts';
