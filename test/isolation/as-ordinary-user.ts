import { execFileSync } from 'node:child_process';
import { chownSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const IS_ROOT = process.getuid?.() === 0;
/** Of this machine, without a name and a home. */
export const ORDINARY = { uid: 12_345, gid: 12_345 };
/** What one program has compiled the next reads; root's is closed to it. */
const COMPILED = join(tmpdir(), `node-compile-cache-${ORDINARY.uid}`);

/** Runs a program of this folder from source, in a folder that it is given; answers what it prints, parsed. Without root: as who we are. */
export function asOrdinaryUser<T>(script: string, folder: string, ...args: readonly string[]): T {
  if (IS_ROOT) chownSync(folder, ORDINARY.uid, ORDINARY.gid);
  const printed = execFileSync(process.execPath, ['--conditions=tendon-source', join(import.meta.dirname, script), folder, ...args], {
    ...(IS_ROOT && ORDINARY),
    env: { HOME: folder, PATH: process.env.PATH, NODE_COMPILE_CACHE: COMPILED },
    encoding: 'utf8',
  });
  return JSON.parse(printed) as T;
}
