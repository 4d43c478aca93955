import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type HostConfig, howHostEnded, shellQuote } from '@tendon/protocol/executor-api';
import { allProcesses, processStat, signalProcess } from '../processes/process-tree.ts';
import { killGroup, spawnBeside, type BesideOptions } from '../shell/spawn-beside.ts';
import { type BrowserHost } from './browser-host.ts';

const TAIL_CHARS = 1000;

/** The host of a browser as a process of this sandbox, where the agent's own are. */
export function spawnBrowserHost(beside: BesideOptions, config: HostConfig): BrowserHost {
  const child = spawnBeside(beside, { exports: '', workingDir: config.workspace }, commandOf(config), undefined, 'pipe', 'pipe');
  let said = '';
  child.stdin?.on('error', () => {}); // it is gone; `exit` follows
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-TAIL_CHARS)));
  return {
    input: child.stdin!,
    output: child.stdout!,
    ended: new Promise((resolve) => {
      child.on('error', (error) => resolve(error.message));
      child.on('exit', (code, signal) => resolve(howHostEnded(code, signal, said)));
    }),
    get hasEnded() {
      return child.exitCode !== null || child.signalCode !== null;
    },
    kill() {
      for (const pid of child.pid === undefined ? [] : descendantsOf(child.pid)) signalProcess(pid, 'SIGKILL');
      killGroup(child, 'SIGKILL');
    },
  };
}

/** The same Node in the same way, and the program beside this one. */
function commandOf(config: HostConfig): string {
  const built = fileURLToPath(new URL('browser.mjs', import.meta.url));
  const program = existsSync(built) ? built : fileURLToPath(new URL('host/main.ts', import.meta.url));
  return ['exec', ...[...ownNode(), program, JSON.stringify(config)].map(shellQuote)].join(' ');
}

/** What this program was started with, up to its file: in an image of somebody else's Node runs through a loader of ours. */
function ownNode(): readonly string[] {
  const words = readFileSync('/proc/self/cmdline', 'utf8').split('\0');
  const at = words.indexOf(process.argv[1] ?? '');
  return at > 0 ? words.slice(0, at) : [process.execPath, ...process.execArgv];
}

function descendantsOf(root: number): readonly number[] {
  const parents = allProcesses().map((pid) => [pid, processStat(pid)?.parent] as const);
  const found = [root];
  for (const ancestor of found) found.push(...parents.filter(([, parent]) => parent === ancestor).map(([pid]) => pid));
  return found.slice(1);
}
