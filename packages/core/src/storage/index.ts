export { BlobFolder, BlobStore } from './blobs/blob-store.ts';
export { S3Blobs } from './blobs/s3-blobs.ts';
export { createMemoryStorage } from './memory/create-memory-storage.ts';
export type { UpgradeProgress } from './sqlite/migrations.ts';
export { lockForProcess } from './sqlite/process-lock.ts';
export { openSqliteStorage, type SqliteStorageOptions } from './sqlite/open-sqlite-storage.ts';
