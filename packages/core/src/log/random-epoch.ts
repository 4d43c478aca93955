import { randomBytes } from 'node:crypto';

/** An epoch that no opening of a storage has had before. */
export function randomEpoch(): string {
  return randomBytes(8).toString('hex');
}
