import { randomBytes } from 'node:crypto';

/** The names of incarnations, and of sandboxes: beside them only the server makes folders, and never with such a name. */
export const INCARNATION = /^[0-9a-f]{16}$/;

/** Names a sandbox for ever. */
export function newIncarnation(): string {
  return randomBytes(8).toString('hex');
}
