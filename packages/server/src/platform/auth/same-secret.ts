import { createHmac } from 'node:crypto';
import { StorageError, type Storage } from '@tendon/core';
import type { Secret } from '@tendon/protocol/masking';

const COLLECTION = 'cluster';
const ID = 'jwt-secret';

/**
 * That this server has the JWT secret of the others on its database, which hold a fingerprint of it there. Rejects with a user-facing error
 * where one of them is alive and has another; else this one's counts from now on, and `onFinding` is called with what that means.
 */
export async function checkSameSecret(
  { records, scheduler }: Pick<Storage, 'records' | 'scheduler'>,
  secret: Secret,
  onFinding: (finding: string) => void,
): Promise<void> {
  const { self } = scheduler;
  if (self === undefined) return;
  const own = createHmac('sha256', secret.reveal()).update('which JWT secret a cluster of Tendon has').digest('hex');
  const [other] = (await scheduler.servers()).filter(({ id }) => id !== self.id);
  let before: string | undefined;
  const counts = await records.update<string>(COLLECTION, ID, (now) => {
    before = now;
    return now === own || (now !== undefined && other) ? undefined : { sort: '', value: own };
  });
  if (counts !== own) {
    throw new StorageError(
      'unusable',
      `JWT_SECRET is not that of the other servers on this database (${other!.url} is one): by it servers know each other, and read the keys that are stored. Give this server the same; nothing was changed.`,
    );
  }
  if (before !== undefined && before !== own) {
    onFinding('JWT_SECRET is another than before on this database: stored keys cannot be read, and have to be entered anew');
  }
}
