import { findOnPath } from '@tendon/protocol/node';

/** Where administrators' programs are, even if PATH leaves them out. */
const USUAL_FOLDERS = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Absolute path of a program of the host, or `undefined`. */
export function findProgram(name: string, path = process.env.PATH ?? ''): string | undefined {
  return findOnPath([name], `${path}:${USUAL_FOLDERS}`);
}
