import { setImmediate } from 'node:timers/promises';
import type { BlobStore } from '../blobs/blob-store.ts';

/**
 * Removes blobs that no log refers to: what a process had written, or was about to remove, when it was killed. Safe beside appends:
 * whoever has put a blob holds it until the row that refers to it is in the database, and between asking for that and removing
 * nothing else runs. Resolves with how many went. What cannot be read stays.
 */
export async function sweepBlobs(blobs: BlobStore, isUsed: (hash: string) => boolean): Promise<number> {
  let removed = 0;
  for await (const hash of blobs.hashes()) {
    await setImmediate(); // one by one: nobody waits for this
    if (!isUsed(hash) && (await blobs.remove(hash))) removed += 1;
  }
  return removed;
}
