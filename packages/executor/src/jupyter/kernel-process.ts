import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ChildProcess } from 'node:child_process';
import type { Place } from '../shell/shell-memory.ts';
import { childOf, killSession, signalGroup } from '../processes/process-tree.ts';
import { killGroup, spawnDetached, type DetachedOptions } from '../shell/detached-process.ts';
import { launchCommand } from './kernel-code.ts';

export interface KernelPlace {
  /** Short: a private folder is made in it while a kernel starts. */
  readonly temporary: string;
  /** Where `ipykernel` is looked for when the Python does not have it; below each a folder for every version. */
  readonly packageFolders: readonly string[];
  /** Through it the host can be asked for packages that all its sandboxes see. */
  readonly proxySocketPath?: string;
  readonly detached: DetachedOptions;
}

/** How a kernel ended; `tail` is the last of what it printed past its channels. */
export interface KernelEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly tail: string;
}

/** Where a kernel listens, and the key that signs its messages. */
export interface KernelConnection {
  readonly key: string;
  socketPath(channel: Channel): string;
  /** Once connected nobody needs the sockets' names; so nothing is left when the executor is killed. */
  removeFolder(): void;
}

/** The process of one kernel. Owns it, its sockets' folder and its connection file; speaks no Jupyter. */
export interface KernelProcess {
  readonly connection: KernelConnection;
  readonly ended: Promise<KernelEnd>;
  /** Asked of the system: true up to the moment it dies, not until we hear of it. */
  isAlive(): boolean;
  /** Its process id as the executor sees it, once it is known. */
  pid(): number | undefined;
  /** With what it was started through. */
  processes(): readonly number[];
  /** SIGINT to the kernel and to what it runs. */
  interrupt(): void;
  /** Ends it with everything in its session. */
  kill(): void;
}

const CHANNELS = ['shell', 'iopub', 'stdin', 'control', 'hb'] as const;
type Channel = (typeof CHANNELS)[number];

const TAIL_CHARS = 2000;

export function startKernelProcess(options: KernelPlace, place: Place): KernelProcess {
  const folder = mkdtempSync(join(options.temporary, 'tendon-kernel-'));
  const removeFolder = (): void => rmSync(folder, { recursive: true, force: true });
  const key = randomBytes(16).toString('hex');
  const connectionFile = join(folder, 'connection.json');
  writeFileSync(connectionFile, JSON.stringify(connectionOf(folder, key)), { mode: 0o600 });

  const command = launchCommand(connectionFile, options.packageFolders);
  const child = spawnDetached(options.detached, place, command, undefined, 'pipe');
  const isNested = options.detached.enter.length > 0;
  let pid: number | undefined;
  const findPid = (): number | undefined => {
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return undefined;
    return (pid ??= isNested ? childOf(child.pid) : child.pid);
  };
  const ended = endOf(child).finally(removeFolder);
  return {
    connection: { key, socketPath: (channel) => join(folder, `s-${CHANNELS.indexOf(channel) + 1}`), removeFolder },
    ended,
    isAlive: () => hasMemory(findPid()),
    pid: findPid,
    processes: () => [child.pid, findPid()].filter((each) => each !== undefined),
    interrupt: () => signalGroup(findPid() ?? 0, 'SIGINT'),
    kill() {
      const leader = findPid();
      if (leader !== undefined) killSession(leader);
      killGroup(child, 'SIGKILL');
    },
  };
}

/** A process that is dying loses its memory, and with that its command line, before its state says so. */
function hasMemory(pid: number | undefined): boolean {
  try {
    return pid !== undefined && readFileSync(`/proc/${pid}/cmdline`).length > 0;
  } catch {
    return false; // gone
  }
}

/** With `ipc` the "ports" are the ends of file names. */
function connectionOf(folder: string, key: string): object {
  const ports = CHANNELS.map((channel, index) => [`${channel}_port`, index + 1]);
  return { transport: 'ipc', ip: join(folder, 's'), ...Object.fromEntries(ports), key, signature_scheme: 'hmac-sha256', kernel_name: '' };
}

function endOf(child: ChildProcess): Promise<KernelEnd> {
  let tail = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => (tail = (tail + text).slice(-TAIL_CHARS)));
  }
  return new Promise((resolve) => {
    child.on('error', (error) => resolve({ code: null, signal: null, tail: error.message }));
    // Its pipes may be held by children for ever: its exit counts, after what has already arrived was read.
    child.on('exit', (code, signal) => setImmediate(() => resolve({ code, signal, tail })));
  });
}
