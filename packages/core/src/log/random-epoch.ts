import { randomBytes } from 'node:crypto';

/** A name that no opening of a storage has had before. */
export function randomEpoch(): string {
  return randomBytes(8).toString('hex');
}
