import { randomBytes } from 'node:crypto';

const TEMPORARY = /^\.tendon-[0-9a-f]{12}\.tmp$/;

/** Of a file that is to take the place of another in its folder. */
export function temporaryName(): string {
  return `.tendon-${randomBytes(6).toString('hex')}.tmp`;
}

export function isTemporary(name: string): boolean {
  return TEMPORARY.test(name);
}
