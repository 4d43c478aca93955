import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, watch } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { findOnPath } from '@tendon/protocol/node';
import { open, stat, truncate } from 'node:fs/promises';

export interface LaunchOptions {
  readonly command: readonly string[];
  /** Control groups that the process enters before anything else runs in it. */
  readonly groups: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Takes stdout and stderr. */
  readonly logPath: string;
  /** Takes what the command writes to descriptor 3. */
  readonly statusPath?: string;
  /** Files that the command can read from descriptor 4 on; only with `statusPath`. */
  readonly files?: readonly string[];
  /** Descriptors of this process that the command gets after the files. */
  readonly descriptors?: readonly number[];
  readonly cwd: string;
}

/** Descriptor on which the command may report its status. */
export const STATUS_FD = 3;
export const FIRST_FILE_FD = 4;

/** Enters the groups one by one, then becomes the command. */
export const ENTER_GROUPS = 'while [ "$1" != -- ]; do echo 0 > "$1/cgroup.procs" || exit 124; shift; done; shift; exec "$@"';

/**
 * Starts a process that outlives this server: a session of its own, and only files on its descriptors. With a pipe, a server
 * that dies in mid start would take bubblewrap along and leave its child waiting for ever. Returns at once; failures of the start
 * arrive as the child's end.
 */
export function launch(options: LaunchOptions): ChildProcess {
  const log = openSync(options.logPath, 'a', 0o600);
  const status = options.statusPath === undefined ? [] : [openSync(options.statusPath, 'w', 0o600)];
  const files = (options.files ?? []).map((path) => openSync(path, 'r'));
  try {
    const [program = '', ...rest] = ['/bin/sh', '-c', ENTER_GROUPS, 'tendon', ...options.groups, '--', ...options.command];
    const { environment: env, cwd } = options;
    const child = spawn(program, rest, {
      detached: true,
      cwd,
      env,
      stdio: ['ignore', log, log, ...status, ...files, ...(options.descriptors ?? [])],
    });
    child.on('error', () => {}); // reported by `firstStatus`, or by a missing pid
    child.unref();
    return child;
  } finally {
    for (const fd of [log, ...status, ...files]) closeSync(fd);
  }
}

const RECHECK_MS = 10;

/** The first status line (JSON) that the child writes. Rejects with the log's last lines when it ends before. */
export async function firstStatus(
  child: ChildProcess,
  { statusPath, logPath, signal }: { readonly statusPath: string; readonly logPath: string; readonly signal: AbortSignal },
): Promise<Readonly<Record<string, unknown>>> {
  if (child.pid === undefined) throw (await once(child, 'error'))[0];
  let wake = (): void => {};
  const stopWatching = watchFolder(dirname(statusPath), () => wake());
  try {
    for (;;) {
      const changed = new Promise<void>((resolve) => (wake = resolve));
      const hasEnded = child.exitCode !== null || child.signalCode !== null;
      const [line, rest] = readFileSync(statusPath, 'utf8').split('\n', 2);
      if (line !== undefined && rest !== undefined) return JSON.parse(line) as Record<string, unknown>;
      if (hasEnded) throw new Error((await logTail(logPath)) || 'it ended without a word');
      await Promise.race([changed, delay(RECHECK_MS, undefined, { signal })]);
    }
  } finally {
    stopWatching();
  }
}

/** Where administrators' programs are, even if PATH leaves them out. */
const USUAL_FOLDERS = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Absolute path of a program of the host, or `undefined`. */
export function findProgram(name: string, path = process.env.PATH ?? ''): string | undefined {
  return findOnPath([name], `${path}:${USUAL_FOLDERS}`);
}

/** The last lines of a text file, at most `maxBytes`; empty when there is none. */
export async function logTail(path: string, maxLines = 12, maxBytes = 4096): Promise<string> {
  try {
    await using file = await open(path, 'r');
    const { size } = await file.stat();
    const length = Math.min(size, maxBytes);
    const { buffer } = await file.read(Buffer.alloc(length), 0, length, size - length);
    return buffer.toString('utf8').trimEnd().split('\n').slice(-maxLines).join('\n');
  } catch {
    return '';
  }
}

const MAX_BYTES = 1024 * 1024;

/** Empties a log that has grown too long; it is written to its end, so its writer goes on. */
export async function boundLog(path: string, maxBytes = MAX_BYTES): Promise<void> {
  try {
    if ((await stat(path)).size > maxBytes) await truncate(path, 0);
  } catch {
    // removed with its sandbox meanwhile
  }
}

/** Calls when something in the folder changes; a hint, not a promise: where the system has no watches left it is silent. Returns how to stop. */
export function watchFolder(path: string, onChange: () => void): () => void {
  try {
    const watcher = watch(path, onChange).on('error', () => {});
    return () => watcher.close();
  } catch {
    return () => {};
  }
}
