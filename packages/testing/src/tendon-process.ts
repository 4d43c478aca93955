import { spawn, type ChildProcess } from 'node:child_process';
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { builtTendon } from './built-tendon.ts';
import { freePort } from './free-port.ts';
import type { WireEvent } from './watcher.ts';

const START_DEADLINE_MS = 60_000;
const ASK_AGAIN_MS = 100;

/** Who a process is on this machine. */
export interface HostAccount {
  readonly uid: number;
  readonly gid: number;
}

interface ProcessOptions {
  readonly account?: HostAccount;
  /** A program that ends in running what follows it; default: none. */
  readonly launcher?: readonly string[];
}

/** A real server process with a home of its own, to be killed and started again over the same home and port. */
export class TendonProcess {
  readonly home = mkdtempSync(join(tmpdir(), 'tendon-e2e-'));
  readonly url: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #entry: string;
  readonly #process: ProcessOptions;
  #child: ChildProcess | undefined;
  #output = '';

  private constructor(port: number, env: NodeJS.ProcessEnv, entry: string, options: ProcessOptions = {}) {
    this.#process = options;
    if (options.account) chownSync(this.home, options.account.uid, options.account.gid);
    this.url = `http://127.0.0.1:${port}`;
    const { PATH, NODE_COMPILE_CACHE } = process.env;
    const place = { PATH, NODE_COMPILE_CACHE, HOME: this.home, TENDON_HOME: this.home, PORT: String(port), LOG_LEVEL: 'warn' };
    // On a busy machine any command may be silent for ten seconds.
    this.#env = { ...place, SANDBOX_NO_OUTPUT_SECONDS: '30', ...env };
    this.#entry = entry;
  }

  /** `entry`: a file that serves, in TypeScript or JavaScript; default the command line as it is shipped. */
  static async start(env: NodeJS.ProcessEnv = {}, entry = builtTendon()): Promise<TendonProcess> {
    const tendon = new TendonProcess(await freePort(), env, entry);
    await tendon.start();
    return tendon;
  }

  /** A server of another user of this machine; only root may start one. */
  static async startAs(account: HostAccount, env: NodeJS.ProcessEnv = {}, script?: unknown): Promise<TendonProcess> {
    const model = script === undefined ? {} : { LLM_MODEL: 'scripted/script.json' };
    const tendon = new TendonProcess(await freePort(), { ...model, ...env }, builtTendon(), { account });
    if (script !== undefined) writeFileSync(join(tendon.home, 'script.json'), JSON.stringify(script));
    await tendon.start();
    return tendon;
  }

  /** A server without sandboxes whose model plays `script` in every conversation. */
  static async scripted(script: unknown, env: NodeJS.ProcessEnv = {}): Promise<TendonProcess> {
    const given = { RUNTIME: 'none', LLM_MODEL: 'scripted/script.json', ...env };
    const tendon = new TendonProcess(await freePort(), given, builtTendon());
    writeFileSync(join(tendon.home, 'script.json'), JSON.stringify(script));
    await tendon.start();
    return tendon;
  }

  /** One of several servers on a database, where the others reach it; with `script` it has no sandboxes, and its model plays that. */
  static async sharing(databaseUrl: string, env: NodeJS.ProcessEnv = {}, script?: unknown): Promise<TendonProcess> {
    const port = await freePort();
    const place = {
      TENDON_DATABASE_URL: databaseUrl,
      TENDON_ADVERTISE_URL: `http://127.0.0.1:${port}`,
      JWT_SECRET: 'the same on every server',
    };
    const model = script === undefined ? {} : { RUNTIME: 'none', LLM_MODEL: 'scripted/script.json' };
    const tendon = new TendonProcess(port, { ...place, ...model, ...env }, builtTendon());
    if (script !== undefined) writeFileSync(join(tendon.home, 'script.json'), JSON.stringify(script));
    await tendon.start();
    return tendon;
  }

  /** Its home is a file system of its own of this size, which ends with the process; needs no privilege. The model plays `script`. */
  static async onSmallDisk(megabytes: number, script: unknown, env: NodeJS.ProcessEnv = {}): Promise<TendonProcess> {
    const mount = `mount -t tmpfs -o size=${megabytes}m tmpfs "$TENDON_HOME" && cd "$TENDON_HOME" && exec "$@"`;
    const launcher = ['unshare', '--user', '--map-root-user', '--mount', 'sh', '-c', mount, '--'];
    const played = join(mkdtempSync(join(tmpdir(), 'tendon-script-')), 'script.json');
    writeFileSync(played, JSON.stringify(script));
    const given = { RUNTIME: 'none', LLM_MODEL: `scripted/${played}`, ...env };
    const tendon = new TendonProcess(await freePort(), given, builtTendon(), { launcher });
    await tendon.start();
    return tendon;
  }

  /** Its home as the server sees it, also on a disk of its own. */
  get homeInside(): string {
    return `/proc/${this.pid}/root${this.home}`;
  }

  get pid(): number {
    return this.#child?.pid ?? -1;
  }

  /** What the process printed, all starts together. */
  get output(): string {
    return this.#output;
  }

  async start(env: NodeJS.ProcessEnv = {}): Promise<void> {
    const { account, launcher = [] } = this.#process;
    const [command = '', ...args] = [...launcher, process.execPath, '--conditions=tendon-source', this.#entry, 'serve'];
    const child = spawn(command, args, {
      env: { ...this.#env, ...env },
      cwd: this.home,
      ...account,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    let wake = (): void => {};
    const take = (data: Buffer): void => {
      this.#output += data.toString();
      wake();
    };
    for (const stream of [child.stdout, child.stderr]) stream.on('data', take);
    const deadline = Date.now() + START_DEADLINE_MS;
    while (!(await this.#answers())) {
      if (child.exitCode !== null || Date.now() > deadline) throw new Error(`the server did not start:\n${this.#output}`);
      // It prints where it listens. What prints nothing is asked now and then: each refused question costs a millisecond.
      await Promise.race([new Promise<void>((resolve) => (wake = resolve)), sleep(ASK_AGAIN_MS)]);
    }
  }

  /** Resolves when the process has ended, however it ends. */
  get ended(): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
    return new Promise((resolve) => child.once('exit', () => resolve()));
  }

  async kill(signal: NodeJS.Signals): Promise<void> {
    this.#child?.kill(signal);
    await this.ended;
  }

  /** Ends the server and, through it, every sandbox; removes the home. */
  async remove(): Promise<void> {
    if (this.#child && this.#child.exitCode === null && this.#child.signalCode === null) {
      for (const { conversation_id: id } of await this.conversations().catch(() => [])) {
        await fetch(`${this.url}/api/conversations/${id}`, { method: 'DELETE' }).catch(() => undefined);
      }
    }
    await this.kill('SIGKILL');
    rmSync(this.home, { recursive: true, force: true, maxRetries: 5 });
  }

  async json<T>(path: string, body?: unknown): Promise<T> {
    const init = body === undefined ? {} : { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
    const response = await fetch(this.url + path, init);
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  }

  async conversations(): Promise<{ conversation_id: string }[]> {
    return (await this.json<{ results: { conversation_id: string }[] }>('/api/conversations?limit=100')).results;
  }

  async trajectory(id: string): Promise<WireEvent[]> {
    return (await this.json<{ trajectory: WireEvent[] }>(`/api/conversations/${id}/trajectory`)).trajectory;
  }

  async #answers(): Promise<boolean> {
    try {
      return (await fetch(`${this.url}/alive`, { signal: AbortSignal.timeout(5000) })).ok;
    } catch {
      return false;
    }
  }
}
