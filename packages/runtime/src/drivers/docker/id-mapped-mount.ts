import { execFile } from 'node:child_process';
import { mkdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { STAGED_ENTRY } from '../staged-entry.ts';

const DEADLINE_MS = 10_000;
const run = (program: string, ...args: readonly string[]) => promisify(execFile)(program, args, { timeout: DEADLINE_MS });

/**
 * Mounts root's folder so that its files are the sandbox user's, for an engine to take it from there. The engine's mount is one
 * of its own: this one is taken away again as soon as the container has started.
 */
export async function mountIdMapped(source: string, target: string, { uid, gid }: { uid: number; gid: number }): Promise<void> {
  await mkdir(target, { recursive: true, mode: 0o755 });
  await run('perl', '-e', STAGED_ENTRY, '--', String(uid), String(gid), source, target, '1', '--', 'true').catch(
    (error: Error & { stderr?: string }) => {
      throw new Error(error.stderr?.trim().replace(/^tendon: /, '') || error.message, { cause: error });
    },
  );
}

/** Everything that is mounted at a path which holds one of the names. */
export async function unmountNamed(names: readonly string[]): Promise<void> {
  if (process.platform !== 'linux') return;
  const points = (await readFile('/proc/self/mountinfo', 'utf8')).split('\n').map((line) => line.split(' ')[4] ?? '');
  for (const point of points.filter((path) => names.some((name) => path.includes(name))).toReversed()) await run('umount', '--lazy', point);
}
