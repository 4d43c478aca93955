import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { childOf } from './process-tree.ts';

/**
 * A namespace of processes for everything the agent starts: it cannot see the executor and cannot signal it, so
 * `pkill -9 -f node` and `kill -9 -1` end at most what runs beside them. Owns the namespace's first process, which reaps
 * orphans; the kernel ends the whole namespace with it.
 *
 * 1. The first process ends when its standard input does, so nothing outlives the executor, however that dies.
 * 2. The executor's own folders (its door, its journal) are covered by empty ones, and the inside cannot uncover them.
 * 3. Where namespaces cannot be nested there is no prefix, and `nested` says so; nothing pretends.
 */
export interface Nest {
  readonly nested: boolean;
  /** Why not, when it is not. */
  readonly reason?: string;
  /** Put before a command that shall run inside. */
  readonly enter: readonly string[];
  /** Its own processes, in the executor's numbering. */
  processes(): readonly number[];
  close(): void;
}

export interface NestOptions {
  readonly shell: string;
  /** Folders that the inside shall find empty. */
  readonly hidden: readonly string[];
  /** Folder of `unshare`, `nsenter` and `mount`; those on PATH when it is not given. */
  readonly tools?: string;
}

/** How to make the namespace, and how to enter it once its first process is known. */
interface Way {
  /** With a user namespace: what is set in it is set for nobody else. */
  readonly hasOwnUsers: boolean;
  readonly make: readonly string[];
  readonly enter: (first: number) => readonly string[];
}

/**
 * Of inotify each user of the machine has so many for all programs: half of them are left to others. The limit belongs to the user
 * namespace, in which the agent has no powers; namespaces of its own lie in that one and count there too.
 */
const LEAVE_INOTIFY = `for what in instances watches; do
  { read -r most < "/proc/sys/fs/inotify/max_user_$what" && echo $((most / 2)) > "/proc/sys/user/max_inotify_$what"; } 2> /dev/null
done`;
// Bash reaps every child it is left with, also while it reads what never comes.
const FIRST_PROCESS = `mount=$1; own=$2; shift 2; for folder; do "$mount" -t tmpfs -o ro,size=4k,mode=555 none "$folder" || exit 1; done
if [ "$own" ]; then ${LEAVE_INOTIFY}; fi
trap "" TERM INT HUP; echo ready; while read -r _; do :; done; exit 0`;
const MAKE = ['--pid', '--mount', '--mount-proc', '--fork', '--kill-child'];
/** Given up too early, what runs is neither told apart nor put to sleep for the whole life of a sandbox: machines may be busy. */
const START_DEADLINE_MS = 15_000;
/** With a socket for its input a bash would take itself for a remote login, and read the user's files. */
const PLAIN = ['--norc', '--noprofile', '-c'];

export async function makeNest(options: NestOptions): Promise<Nest> {
  const tool = (name: string): string => (options.tools === undefined ? name : join(options.tools, name));
  const { make, enter, hasOwnUsers } = wayFor(process.getuid?.() ?? -1, process.getgid?.() ?? -1, tool);
  const [program = '', ...args] = [
    ...make,
    options.shell,
    ...PLAIN,
    FIRST_PROCESS,
    'first',
    tool('mount'),
    hasOwnUsers ? 'own' : '',
    ...options.hidden,
  ];
  const env = { PATH: process.env.PATH ?? '/usr/bin:/bin' };
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'], env });
  const failure = await firstWord(child);
  const first = failure === undefined && child.pid !== undefined ? childOf(child.pid) : undefined;
  if (first === undefined) return unnested(child, failure ?? 'its first process was not found');
  const [entry = '', ...rest] = [...enter(first), options.shell, ...PLAIN, 'echo in'];
  const visitor = spawn(entry, rest, { stdio: ['ignore', 'pipe', 'pipe'], env });
  const refusal = await firstWord(visitor);
  if (refusal !== undefined) {
    visitor.kill('SIGKILL');
    return unnested(child, `nsenter: ${refusal}`);
  }
  for (const stream of [child, child.stdin, child.stdout, child.stderr] as { unref?: () => void }[]) stream.unref?.();
  child.on('error', () => {});
  return { nested: true, enter: enter(first), processes: () => [child.pid!, first], close: () => void child.kill('SIGKILL') };
}

/**
 * Root keeps its powers and needs no user namespace. Everybody else becomes root of one, which may mount; a second one inside
 * it gives them back their own id and takes the powers away.
 */
function wayFor(uid: number, gid: number, tool: (name: string) => string): Way {
  if (uid === 0) {
    return {
      hasOwnUsers: false,
      make: [tool('unshare'), ...MAKE],
      enter: (first) => [tool('nsenter'), '--target', String(first), '--mount', '--pid', '--'],
    };
  }
  const own = [tool('unshare'), '--user', `--map-user=${uid}`, `--map-group=${gid}`, '--'];
  return {
    hasOwnUsers: true,
    make: [tool('unshare'), '--user', '--map-root-user', ...MAKE],
    enter: (first) => [tool('nsenter'), '--target', String(first), '--user', '--preserve-credentials', '--mount', '--pid', '--', ...own],
  };
}

function unnested(child: ChildProcess, reason: string): Nest {
  child.on('error', () => {});
  child.kill('SIGKILL');
  return { nested: false, reason, enter: [], processes: () => [], close: () => {} };
}

/** Nothing when the process has said something, else why it has not. */
function firstWord(child: ChildProcess): Promise<string | undefined> {
  return new Promise((resolve) => {
    let errors = '';
    const timer = setTimeout(() => resolve('no answer in time'), START_DEADLINE_MS);
    const settle = (reason: string | undefined): void => {
      clearTimeout(timer);
      resolve(reason);
    };
    child.stderr?.on('data', (data: Buffer) => (errors = (errors + data.toString()).slice(0, 500)));
    child.stdout?.once('data', () => settle(undefined));
    child.once('error', (error) => settle(error.message));
    child.once('close', () => settle(errors.trim() || 'it ended at once'));
  });
}
