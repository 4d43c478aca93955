import { join } from 'node:path';
import { spawn, type ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { reasonOf } from '../action-handler.ts';
import { childOf } from './process-tree.ts';

/**
 * A namespace of processes for everything the agent starts: it cannot see the executor and cannot signal it, so
 * `pkill -9 -f node` and `kill -9 -1` end at most what runs beside them. Owns the namespace's first process, which reaps
 * orphans; the kernel ends the whole namespace with it.
 *
 * 1. The first process ends when its standard input does, so nothing outlives the executor, however that dies.
 * 2. The executor's own folders (its socket, its journal) are covered by empty ones, and the inside cannot uncover them.
 * 3. Where namespaces cannot be nested there is no prefix, and `nested` says so; nothing pretends.
 * 4. In a sandbox the inside can make no namespaces: in one of its own a program has powers over large parts of the kernel. Chromium,
 *    which needs some for its own sandbox, has a namespace of processes of its own, made when it is first asked for.
 */
export interface PidNamespace {
  readonly nested: boolean;
  /** Why not, when it is not. */
  readonly reason?: string;
  /** Whether what runs inside can make no namespaces of its own. */
  readonly isClosed: boolean;
  /** Put before a command that shall run inside. */
  readonly enter: readonly string[];
  /** The same for a Chromium that is none of the agent's. */
  enterForChromium(): Promise<readonly string[]>;
  /** Where the executor's terminals are for what runs inside; missing where they are at their usual place. */
  readonly terminals?: Terminals;
  /** Its own processes, in the executor's numbering. */
  processes(): readonly number[];
  close(): void;
}

/** Where terminals are for what runs in a namespace that has others at their usual place. */
export interface Terminals {
  /** As it is called inside. */
  readonly folder: string;
  /** The same folder for the executor: a terminal has a name for programs only where it was opened through their own mounts. */
  readonly reachedBy: string;
}

export type PidNamespaceOptions = Pick<NamespaceOptions, 'shell' | 'hidden' | 'stateDir'> &
  Partial<Pick<NamespaceOptions, 'tools' | 'terminals'>>;

export async function makePidNamespace(options: PidNamespaceOptions): Promise<PidNamespace> {
  const { shell, hidden, stateDir, tools, terminals } = options;
  const common = { shell, hidden, stateDir, tools, terminals };
  const made = await makeNamespace({ ...common, most: NO_NAMESPACES });
  if (typeof made === 'string') {
    const enter: readonly string[] = [];
    return {
      nested: false,
      reason: made,
      isClosed: false,
      enter,
      enterForChromium: async () => enter,
      processes: () => [],
      close: () => {},
    };
  }
  let forChromium: Namespace | undefined;
  let making: Promise<void> | undefined;
  let hasEnded = false;

  /** One that cannot be had a second time: Chromium then runs with the agent's programs, and without a sandbox of its own. */
  async function makeForChromium(): Promise<void> {
    const other = await makeNamespace({ ...common, most: NAMESPACES_OF_CHROMIUM });
    if (typeof other === 'string') return;
    if (hasEnded) other.close();
    forChromium = other;
  }

  return {
    nested: true,
    isClosed: made.isClosed,
    enter: made.enter,
    async enterForChromium() {
      if (made.isClosed) await (making ??= makeForChromium());
      return (forChromium ?? made).enter;
    },
    ...(terminals !== undefined && { terminals: { folder: terminals, reachedBy: join(`/proc/${made.first}/root`, terminals) } }),
    processes: () => [...made.processes, ...(forChromium?.processes ?? [])],
    close() {
      hasEnded = true;
      made.close();
      forChromium?.close();
    },
  };
}

/** A namespace of processes with its own mounts. The kernel ends everything in it with its first process. */
interface Namespace {
  /** Put before a command that shall run inside. */
  readonly enter: readonly string[];
  /** Its first process, in the executor's numbering. */
  readonly first: number;
  /** Its own processes, in the executor's numbering. */
  readonly processes: readonly number[];
  /** Whether what is inside can make no user namespace, and so none of the others. */
  readonly isClosed: boolean;
  close(): void;
}

interface NamespaceOptions {
  readonly shell: string;
  /** Folders that the inside shall find empty. */
  readonly hidden: readonly string[];
  /** The executor's own, where `mount` reads what to mount: it takes a list from a file only. */
  readonly stateDir: string;
  /** Folder of `unshare`, `nsenter` and `mount`; those on PATH when it is not given. */
  readonly tools: string | undefined;
  /** In a sandbox: an empty folder, for the executor's terminals. */
  readonly terminals: string | undefined;
  /** How many namespaces of each kind can be made inside; of those that are not named, any number. */
  readonly most: Readonly<Record<string, number>>;
}

/** For a shell and what it runs. */
const NO_NAMESPACES = { user: 0, mnt: 0, net: 0, pid: 0, ipc: 0, uts: 0, cgroup: 0, time: 0 };
/** Chromium makes a user, a PID and a network namespace for its renderers; one that ended a moment ago still counts. */
const NAMESPACES_OF_CHROMIUM = { ...NO_NAMESPACES, user: 8, pid: 16, net: 4 };

/** Of the agent's own terminals; the kernel has 4096 for the whole machine. */
const MAX_TERMINALS = 64;
/** Given up too early, what runs can neither be recognized nor suspended for the whole life of a sandbox: machines may be busy. */
const START_DEADLINE_MS = 15_000;
/** With a socket for its input a bash would take itself for a remote login, and read the user's files. */
const PLAIN = ['--norc', '--noprofile', '-c'];

/** All mounts at once: each start of `mount` costs a millisecond. Then this process becomes the one that makes the namespace. */
const STAGE = '"$1" -a -T "$2" && shift 2 && exec "$@"';

/**
 * Of inotify each user of the machine has so many for all programs: half of them are left to others. Limits belong to the user
 * namespace, in which the agent has no powers; namespaces of its own would lie in that one and count there too.
 * Bash reaps every child it is left with, also while it reads what never comes.
 */
const FIRST_PROCESS = `{ for most; do echo "\${most#*=}" > "/proc/sys/user/max_\${most%=*}_namespaces"; done
if [ "$0" = own ]; then for what in instances watches; do
  read -r most < "/proc/sys/fs/inotify/max_user_$what" && echo $((most / 2)) > "/proc/sys/user/max_inotify_$what"; done; fi
read -r users < /proc/sys/user/max_user_namespaces; } 2> /dev/null
trap "" TERM INT HUP; echo "ready \${users:-unknown}"; while read -r _; do :; done; exit 0`;

/** The namespace, or why there can be none. */
async function makeNamespace(options: NamespaceOptions): Promise<Namespace | string> {
  const { shell, stateDir, tools, terminals, most } = options;
  const tool = (name: string): string => (tools === undefined ? name : join(tools, name));
  const isRoot = process.getuid?.() === 0;
  const limits = isRoot || terminals === undefined ? [] : Object.entries(most).map(([kind, count]) => `${kind}=${count}`);
  const [outer, inner] = isRoot ? [[], []] : usersOf(process.getuid?.() ?? -1, process.getgid?.() ?? -1);
  const apart = [...inner, '--pid', '--mount', '--mount-proc', '--fork', '--kill-child'];
  const inside = [shell, ...PLAIN, FIRST_PROCESS, isRoot ? 'shared' : 'own', ...limits];
  const table = join(stateDir, 'mounts');
  const stage = [shell, ...PLAIN, STAGE, 'stage', tool('mount'), table, tool('unshare'), ...apart, ...inside];
  const env = { PATH: process.env.PATH ?? '/usr/bin:/bin' };
  try {
    writeFileSync(table, mountTable(options));
  } catch (error) {
    return reasonOf(error);
  }
  const child = spawn(tool('unshare'), [...outer, '--mount', ...stage], { stdio: ['pipe', 'pipe', 'pipe'], env });
  const word = await firstWord(child);
  const first = word.startsWith('ready') && child.pid !== undefined ? childOf(child.pid) : undefined;
  if (first === undefined) return given(child, word.startsWith('ready') ? 'its first process was not found' : word);
  const users = isRoot ? [] : ['--user', '--preserve-credentials'];
  const enter = [tool('nsenter'), '--target', String(first), ...users, '--mount', '--pid', '--'];
  // An engine's walls may refuse what ours allow; in a sandbox of ours, what could be made can be entered.
  const refusal = tools === undefined ? undefined : await refusalOf([...enter, shell, ...PLAIN, 'echo ready'], env);
  if (refusal !== undefined) return given(child, `nsenter: ${refusal}`);
  for (const stream of [child, child.stdin, child.stdout, child.stderr] as { unref?: () => void }[]) stream.unref?.();
  child.on('error', () => {});
  return {
    enter,
    first,
    processes: [child.pid!, first],
    isClosed: limits.length > 0 && word === `ready ${most.user}`,
    close: () => void child.kill('SIGKILL'),
  };
}

/**
 * Root keeps its powers and needs no user namespace. Everybody else becomes root of an outer one, which may mount; in an inner one
 * they have their own id again, and no power over what is mounted. There only the first process keeps its powers, to set limits.
 */
function usersOf(uid: number, gid: number): readonly [outer: readonly string[], inner: readonly string[]] {
  return [
    ['--user', '--map-root-user'],
    ['--user', `--map-user=${uid}`, `--map-group=${gid}`, '--keep-caps'],
  ];
}

/**
 * Lines of an fstab. The terminals of the executor stay where programs can find their names, without the means to make more of them;
 * those that programs make are of another instance, which only this namespace has.
 */
function mountTable({ hidden, terminals }: NamespaceOptions): string {
  const covers = hidden.map((folder) => ['none', folder, 'tmpfs', 'ro,size=4k,mode=555']);
  const own =
    terminals === undefined
      ? []
      : [
          ['/dev/pts', terminals, 'none', 'bind'],
          ['/dev/null', join(terminals, 'ptmx'), 'none', 'bind'],
          ['terminals', '/dev/pts', 'devpts', `newinstance,ptmxmode=0666,mode=620,max=${MAX_TERMINALS}`],
        ];
  return [...covers, ...own].map((fields) => `${fields.map(escaped).join(' ')} 0 0\n`).join('');
}

function escaped(field: string): string {
  return field.replaceAll(/[\s\\#]/g, (char) => `\\${char.charCodeAt(0).toString(8).padStart(3, '0')}`);
}

function given(child: ChildProcess, reason: string): string {
  child.on('error', () => {});
  child.kill('SIGKILL');
  return reason;
}

async function refusalOf([program = '', ...args]: readonly string[], env: Readonly<Record<string, string>>): Promise<string | undefined> {
  const visitor = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env });
  const word = await firstWord(visitor);
  if (word === 'ready') return undefined;
  visitor.kill('SIGKILL');
  return word;
}

/** Its first line when that says it is ready, else why it is not. */
function firstWord(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    let errors = '';
    const timer = setTimeout(() => settle('no answer in time'), START_DEADLINE_MS);
    const settle = (word: string): void => {
      clearTimeout(timer);
      resolve(word);
    };
    child.stderr?.on('data', (data: Buffer) => (errors = (errors + data.toString()).slice(0, 500)));
    child.stdout?.once('data', (data: Buffer) => settle(data.toString().trim()));
    child.once('error', (error) => settle(error.message));
    child.once('close', () => settle(errors.trim() || 'it ended at once'));
  });
}
