import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import type { HeldFolder } from '../../workspace/held-folder.ts';
import type { HostUser } from '../start/host-user.ts';
import type { ProtectedPath } from '../../workspace/protected/protect.ts';
import { stagedEntry } from '../start/staged-entry.ts';

const DEADLINE_MS = 10_000;
const run = (program: string, ...args: readonly string[]) => promisify(execFile)(program, args, { timeout: DEADLINE_MS });

/** Of the process that mounts. */
const HELD_FD = 3;

/**
 * Mounts the workspace, by its descriptor, where nobody but this server can put anything in its place, for an engine to take it from
 * there; root's folder so that its files are the sandbox user's. The engine's mount is one of its own: this one is taken away again as
 * soon as the container has started. What is protected is mounted in another place first: in one piece it is also seen by an engine in
 * a mount namespace of its own.
 */
export async function mountHeld(held: HeldFolder, target: string, user: HostUser, protects: readonly ProtectedPath[]): Promise<void> {
  const parts = protects.length > 0 ? `${target}-parts` : target;
  for (const folder of new Set([target, parts])) await mkdir(folder, { recursive: true, mode: 0o755 });
  const mounts = [{ source: held.path, descriptor: HELD_FD, target: parts, idMapped: user.idMapped, protects }];
  const [program = '', ...rest] = [...stagedEntry(mounts, { ...user, namespace: 'same' }), 'true'];
  const child = spawn(program, rest, { stdio: ['ignore', 'ignore', 'pipe', held.descriptor()], timeout: DEADLINE_MS });
  const [printed, [code]] = await Promise.all([text(child.stderr!), once(child, 'close') as Promise<[number | null]>]);
  if (code !== 0) throw new Error(printed.trim().replace(/^tendon: /, '') || `the workspace could not be mounted (${code})`);
  if (parts !== target) await run('mount', '--rbind', parts, target);
}

/**
 * Everything that is mounted at a path which holds one of the names. Only what lies below no other of these is named to the system, and
 * takes the rest with it: a path that leads through the workspace may have a link of the agent's in it by now.
 */
export async function unmountNamed(names: readonly string[]): Promise<void> {
  if (process.platform !== 'linux') return;
  const points = (await mountPoints()).filter((path) => names.some((name) => path.includes(name)));
  for (const point of points.filter((path) => !points.some((above) => path.startsWith(`${above}/`)))) {
    try {
      await run('umount', '--lazy', point);
    } catch (error) {
      if ((await mountPoints()).includes(point)) throw error; // else another has taken it away meanwhile
    }
  }
}

async function mountPoints(): Promise<string[]> {
  return (await readFile('/proc/self/mountinfo', 'utf8')).split('\n').map((line) => line.split(' ')[4] ?? '');
}
