export { openPostgresStorage, type PostgresStorageOptions } from './open-postgres-storage.ts';
