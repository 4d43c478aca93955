import { spawn, type ChildProcess } from 'node:child_process';
import { shellQuote } from '@tendon/protocol/executor-api';
import { membersOf, signalProcess } from '../processes/process-tree.ts';
import type { Place } from './shell-memory.ts';

export interface DetachedOptions {
  readonly shell: string;
  readonly enter: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Closes what came along from the executor: the terminal of the session is among it. */
export const OWN_DESCRIPTORS =
  'for fd in /proc/self/fd/*; do case ${fd##*/} in [012]) ;; *) eval "exec ${fd##*/}>&-" ;; esac; done; unset fd';

/** Where the memory runs out, what the agent starts goes before the executor. */
export const EARLY_VICTIM = '{ echo 500 >/proc/self/oom_score_adj; } 2>/dev/null';

/**
 * Starts a command beside the session: same folder and variables, but no terminal, and what it changes there is its own.
 * It leads a process group, so that it can be ended with its children.
 */
export function spawnDetached(
  options: DetachedOptions,
  place: Pick<Place, 'exports' | 'workingDir'>,
  command: string,
  cwd: string | undefined,
  output: 'pipe' | number,
  input: 'pipe' | 'ignore' = 'ignore',
): ChildProcess {
  // With a socket for its input bash takes itself for a remote one and reads ~/.bashrc; `--norc` is not left out for that.
  // Exported variables arrive as `declare -x` lines, which only a shell can read; then it becomes the command's shell.
  const script = `${OWN_DESCRIPTORS}; ${EARLY_VICTIM}; eval "$1" 2>/dev/null; cd -- "$2" || exit 1; exec "$0" --norc -c "$3"`;
  const args = [options.shell, '--norc', '--noprofile', '-c', script, options.shell, place.exports, cwd ?? place.workingDir, command];
  const [program = '', ...rest] = [...options.enter, ...args];
  return spawn(program, rest, { cwd: '/', env: options.env, detached: true, stdio: [input, output, output] });
}

/** With variables for one command; those that the session has of the same names come later and win. */
export function withSecrets(options: DetachedOptions, secrets: Readonly<Record<string, string>> | undefined): DetachedOptions {
  return secrets === undefined ? options : { ...options, env: { ...secrets, ...options.env } };
}

/**
 * Signals the process group that a child leads; a group that is gone is no error. What only entered the namespace (`nsenter`) is
 * spared: it ends with its child, and reaps it.
 */
export function signalDetached({ enter }: DetachedOptions, child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  const inside = enter.length === 0 ? [] : membersOf(child.pid).filter((pid) => pid !== child.pid);
  for (const pid of inside.length > 0 ? inside : [-child.pid]) signalProcess(pid, signal);
}

/** Ends the process group that a child leads, with whatever entered the namespace. */
export function killGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid !== undefined) signalProcess(-child.pid, signal);
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * What a session evaluates before a command: each secret becomes a variable, unless the session has one of that name, and is
 * remembered as one to be taken away when the command has ended, however it ends.
 */
export function giveSecrets(secrets: Readonly<Record<string, string>> | undefined): string {
  return Object.entries(secrets ?? {})
    .filter(([name]) => NAME.test(name))
    .map(([name, value]) => `[[ -v ${name} ]] || { builtin export ${name}=${shellQuote(value)}; __tendon_secrets+=' ${name}'; }`)
    .join('\n');
}
