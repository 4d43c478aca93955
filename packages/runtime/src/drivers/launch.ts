import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { logTail } from './start-log.ts';

export interface LaunchOptions {
  readonly command: readonly string[];
  /** Control groups that the process enters before anything else runs in it. */
  readonly groups: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Takes stdout and stderr. */
  readonly logPath: string;
  /** Read-only files that the command finds from descriptor 4 on; 3 is the status pipe. */
  readonly files: readonly string[];
  readonly cwd: string;
}

/** Descriptor on which the command may report its status. */
export const STATUS_FD = 3;
export const FIRST_FILE_FD = 4;

/** Enters the groups one by one, then becomes the command. */
const ENTER_GROUPS = 'while [ "$1" != -- ]; do echo 0 > "$1/cgroup.procs" || exit 124; shift; done; shift; exec "$@"';

/**
 * Starts a process that outlives this server: a session of its own, nothing on its descriptors that ends with us but the
 * status pipe. Returns at once; failures of the start arrive as the child's exit.
 */
export function launch(options: LaunchOptions): ChildProcess {
  const log = openSync(options.logPath, 'a', 0o600);
  const files = options.files.map((path) => openSync(path, 'r'));
  try {
    const [program = '', ...rest] = ['/bin/sh', '-c', ENTER_GROUPS, 'tendon', ...options.groups, '--', ...options.command];
    const child = spawn(program, rest, {
      detached: true,
      cwd: options.cwd,
      env: options.environment,
      stdio: ['ignore', log, log, 'pipe', ...files],
    });
    child.on('error', () => {}); // arrives as a rejection of `firstStatus`
    child.unref();
    return child;
  } finally {
    for (const fd of [log, ...files]) closeSync(fd);
  }
}

/** The first status line (JSON) that the child writes. Rejects with the log's last lines when it ends before. */
export async function firstStatus(child: ChildProcess, logPath: string, signal: AbortSignal): Promise<Readonly<Record<string, unknown>>> {
  if (child.pid === undefined) throw (await once(child, 'error'))[0];
  const pipe = child.stdio[STATUS_FD] as NodeJS.ReadableStream & { unref?: () => void; destroy: () => void };
  try {
    let text = '';
    for (;;) {
      const [chunk] = (await Promise.race([once(pipe, 'data', { signal }), once(pipe, 'end', { signal })])) as [Buffer | undefined];
      if (chunk === undefined) break;
      text += chunk.toString('utf8');
      const end = text.indexOf('\n');
      if (end >= 0) return JSON.parse(text.slice(0, end)) as Record<string, unknown>;
      if (text.length > 65_536) break;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
    throw signal.reason;
  } finally {
    pipe.unref?.();
    pipe.on('error', () => {});
    pipe.resume();
  }
  throw new Error((await logTail(logPath)) || 'it ended without a word');
}
