import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { ChildProcess } from 'node:child_process';
import type { ObservationDraft } from '@tendon/protocol';
import { readLines } from '../../ndjson.ts';
import { allProcesses, processStat, signalProcess } from '../shell/process-tree.ts';
import { quoted } from '../shell/shell-process.ts';
import { killGroup, spawnBeside, type BesideOptions } from '../shell/spawn-beside.ts';
import type { HostConfig, HostLine, HostOrder } from './browser-lines.ts';

/** The host of one browser. Owns its process and, through it, Chromium; knows nothing of actions. */
export interface BrowserProcess {
  readonly ready: Promise<{ readonly note?: string }>;
  /** With how it ended; never rejects. */
  readonly ended: Promise<string>;
  readonly hasEnded: boolean;
  ask(order: HostOrder, options: AskOptions): Promise<ObservationDraft>;
  /** Lets it save its cookies first. */
  stop(): void;
  /** Ends it with everything below it, at once. */
  kill(): void;
}

export interface AskOptions {
  readonly withTree: boolean;
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
  readonly output: (text: string) => void;
  /** Called when the host has the order; one that ended before has carried nothing out. */
  readonly onTaken: () => void;
}

const LIMITS = { maxLine: 15 * 1024 * 1024, maxTotal: Number.MAX_SAFE_INTEGER };
const STOP_MS = 20_000;
const TAIL_CHARS = 1000;
const CHROMIUM_ENDED = 3;

export function startBrowserProcess(beside: BesideOptions, config: HostConfig): BrowserProcess {
  const child = spawnBeside(beside, { exports: '', workingDir: config.workspace }, commandOf(config), undefined, 'pipe', 'pipe');
  const ready = Promise.withResolvers<{ readonly note?: string }>();
  ready.promise.catch(() => {}); // told by whoever waits for it
  const asked = new Map<number, Pick<AskOptions, 'output' | 'onTaken'> & { readonly resolve: (observation: ObservationDraft) => void }>();
  let hasEnded = false;
  let ids = 0;

  function take(line: HostLine): void {
    if (line.type === 'ready') ready.resolve(line);
    else if (line.type === 'failed') ready.reject(new Error(line.reason));
    else if (line.type === 'taken') asked.get(line.id)?.onTaken();
    else if (line.type === 'output') asked.get(line.id)?.output(String(line.text));
    else if (line.type === 'done') asked.get(line.id)?.resolve(line.observation);
  }

  const reading = readHost(child, take).catch(() => kill());
  const ended = endOf(child, reading).then((how) => {
    hasEnded = true;
    ready.reject(new Error(`its host ended: ${how}`));
    return how;
  });

  function send(value: object): void {
    child.stdin?.write(`${JSON.stringify(value)}\n`);
  }

  function kill(): void {
    for (const pid of child.pid === undefined ? [] : descendantsOf(child.pid)) signalProcess(pid, 'SIGKILL');
    killGroup(child, 'SIGKILL');
  }

  return {
    ready: ready.promise,
    ended,
    get hasEnded() {
      return hasEnded || child.exitCode !== null || child.signalCode !== null;
    },
    async ask(order, { withTree, deadlineMs, signal, output, onTaken }) {
      const id = ids++;
      const { promise, resolve } = Promise.withResolvers<ObservationDraft>();
      asked.set(id, { resolve, output, onTaken });
      const cancel = (): void => send({ type: 'cancel', id });
      signal.addEventListener('abort', cancel, { once: true });
      send({ id, withTree, deadlineMs, ...order });
      if (signal.aborted) cancel();
      return promise.finally(() => {
        asked.delete(id);
        signal.removeEventListener('abort', cancel);
      });
    },
    stop() {
      child.stdin?.end();
      const timer = setTimeout(kill, STOP_MS);
      void ended.then(() => clearTimeout(timer));
    },
    kill,
  };
}

/** The same Node in the same way, and the program beside this one. */
function commandOf(config: HostConfig): string {
  const built = fileURLToPath(new URL('browser.mjs', import.meta.url));
  const program = existsSync(built) ? built : fileURLToPath(new URL('host/main.ts', import.meta.url));
  return ['exec', ...[...ownNode(), program, JSON.stringify(config)].map(quoted)].join(' ');
}

/** What this program was started with, up to its file: in an image of somebody else's Node runs through a loader of ours. */
function ownNode(): readonly string[] {
  const words = readFileSync('/proc/self/cmdline', 'utf8').split('\0');
  const at = words.indexOf(process.argv[1] ?? '');
  return at > 0 ? words.slice(0, at) : [process.execPath, ...process.execArgv];
}

async function readHost(child: ChildProcess, take: (line: HostLine) => void): Promise<void> {
  for await (const text of readLines(child.stdout!, LIMITS)) take(JSON.parse(text) as HostLine);
}

function endOf(child: ChildProcess, reading: Promise<void>): Promise<string> {
  let tail = '';
  child.stdin?.on('error', () => {}); // it is gone; `exit` follows
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (tail = (tail + text).slice(-TAIL_CHARS)));
  return new Promise((resolve) => {
    child.on('error', (error) => resolve(error.message));
    child.on('exit', (code, signal) => {
      const how =
        code === CHROMIUM_ENDED
          ? 'Chromium was killed or crashed'
          : [signal ?? `exit code ${code}`, tail.trim()].filter(Boolean).join(': ');
      // What it said last is read first; its pipe may be held open by a child.
      void Promise.race([reading, new Promise((late) => setTimeout(late, 200))]).then(() => resolve(how));
    });
  });
}

function descendantsOf(root: number): readonly number[] {
  const parents = allProcesses().map((pid) => [pid, processStat(pid)?.parent] as const);
  const found = [root];
  for (const ancestor of found) found.push(...parents.filter(([, parent]) => parent === ancestor).map(([pid]) => pid));
  return found.slice(1);
}
