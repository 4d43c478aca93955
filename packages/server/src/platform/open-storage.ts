import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock, Storage } from '@tendon/core';
import type { BlobStore, UpgradeProgress } from '@tendon/core/storage';
import { Secret } from '@tendon/protocol/masking';
import type { BlobsConfig } from './config/blobs-config.ts';
import type { Config } from './config/config.ts';

export interface OpenStorageOptions {
  readonly clock: Clock;
  /** Called with a sentence for each damage that is found, also while it is opened. */
  readonly onFinding?: (finding: string) => void;
  /** Called repeatedly with the progress while the store of an earlier version is upgraded. */
  readonly onUpgrade?: (progress: UpgradeProgress) => void;
  /** Called once when the database does not answer, which is then waited for. Default: it is refused. */
  readonly onOutage?: (sentence: string) => void;
}

/**
 * What a server remembers: in the home, or in the database that is configured. One process has the home either way, for its sandboxes
 * and folders. Rejects with a user-facing Error.
 */
export async function openStorage(
  { home, databaseUrl, blobs: bucket, cluster: shared }: Pick<Config, 'home' | 'databaseUrl' | 'blobs' | 'cluster'>,
  options: OpenStorageOptions,
): Promise<Storage> {
  const { lockForProcess, openSqliteStorage } = await import('@tendon/core/storage');
  const [path, blobDir] = [join(home, 'tendon.db'), join(home, 'blobs')];
  if (!databaseUrl) {
    const blobs = bucket && (await openBucket(bucket, blobDir, options));
    return openSqliteStorage({ ...options, path, blobDir, ...(blobs && { blobs }) });
  }
  const { openPostgresStorage } = await import('@tendon/core/postgres');
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const unlock = lockForProcess(path);
  try {
    const storage = await openPostgresStorage({ ...options, url: databaseUrl.reveal(), shared });
    return { ...storage, close: () => storage.close().finally(unlock) };
  } catch (error) {
    unlock();
    throw error;
  }
}

/** The start does not wait for it: only what needs a large payload does. */
async function openBucket(
  { accessKeyId, secretAccessKey, sessionToken, ...where }: BlobsConfig,
  folder: string,
  { onFinding }: Pick<OpenStorageOptions, 'onFinding'>,
): Promise<BlobStore> {
  const { BlobFolder, BlobStore, S3Blobs } = await import('@tendon/core/storage');
  const secrets = { secretAccessKey: secretAccessKey.reveal(), ...(sessionToken && { sessionToken: sessionToken.reveal() }) };
  const place = new S3Blobs({ ...where, account: { accessKeyId, ...secrets }, before: new BlobFolder(folder) });
  void place.problem().then((problem) => problem && onFinding?.(`${problem}: events with large payloads cannot be stored`));
  return new BlobStore(place);
}

/** The part of the database's address that must not be shown where the rest is. */
export function passwordOf(databaseUrl: Secret | undefined): Secret | undefined {
  const password = databaseUrl && URL.parse(databaseUrl.reveal())?.password;
  return password ? new Secret(decodeURIComponent(password)) : undefined;
}
