import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { programsFolder, type ProgramName } from './programs.ts';

const AGAIN_MS = 200;
const READY_MS = 120_000;
const LAST_LINES = 20;

export interface ProcessOptions {
  /** Started again whenever it ends, as a node does with the programs of a control plane. */
  readonly staysUp?: boolean;
  readonly env?: Readonly<Record<string, string>>;
}

/** A program of the control plane. Owns its process, which it kills without a chance to put anything in order, and its log in the folder. */
export class ClusterProcess {
  readonly #name: ProgramName;
  readonly #args: readonly string[];
  readonly #log: string;
  readonly #options: ProcessOptions;
  #child: ChildProcess | undefined;
  #isWanted = false;

  constructor(name: ProgramName, folder: string, args: readonly string[], options: ProcessOptions = {}) {
    this.#name = name;
    this.#args = args;
    this.#log = join(folder, `${name}.log`);
    this.#options = options;
  }

  /** And is not started again by itself. */
  get hasEnded(): boolean {
    return !this.#options.staysUp && !this.#isRunning;
  }

  get #isRunning(): boolean {
    return this.#child?.pid !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** One that runs is left as it is. */
  start(): void {
    this.#isWanted = true;
    if (this.#isRunning) return;
    const log = openSync(this.#log, 'a');
    const env = { ...process.env, ...this.#options.env };
    const command = [join(programsFolder(), this.#name), ...this.#args];
    // It never outlives a test run that is killed.
    const child = spawn('setpriv', ['--pdeathsig', 'KILL', ...command], { stdio: ['ignore', log, log], env });
    closeSync(log);
    this.#child = child;
    child.once('error', () => {});
    if (this.#options.staysUp)
      child.once('exit', () => setTimeout(() => this.#isWanted && this.#child === child && this.start(), AGAIN_MS).unref());
  }

  async end(): Promise<void> {
    this.#isWanted = false;
    const child = this.#child;
    if (child === undefined || !this.#isRunning) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  }

  /** What it printed at last. */
  lastLines(): string {
    return readFileSync(this.#log, 'utf8').trim().split('\n').slice(-LAST_LINES).join('\n');
  }
}

/** Asks until there is an answer; rejects with what `source` printed when it takes too long. */
export async function answered(what: string, source: ClusterProcess, ask: () => Promise<unknown>): Promise<void> {
  for (const end = performance.now() + READY_MS; ;) {
    try {
      return void (await ask());
    } catch (error) {
      if (performance.now() > end || source.hasEnded)
        throw new Error(`${what} cannot be had (${(error as Error).message}):\n${source.lastLines()}`, { cause: error });
      await delay(AGAIN_MS);
    }
  }
}
