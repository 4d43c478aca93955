import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { builtTendon } from './built-tendon.ts';
import { freePort } from './free-port.ts';
import { waitFor } from './wait-for.ts';

export interface HostOptions {
  /** Default: the key of the host. */
  readonly key?: string;
  readonly driver?: 'local' | 'docker' | 'none';
  readonly ownWorkspaces?: boolean;
  /** More variables for it. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** A real `tendon executor` on a loopback port, with a home of its own, to be killed and started again over both. */
export class ExecutorHostProcess {
  readonly folder = mkdtempSync(join(tmpdir(), 'tendon-host-'));
  readonly workspace = join(this.folder, 'workspace');
  readonly key = 'the key of the host';
  readonly #options: HostOptions;
  readonly #port: number;
  #child: ChildProcess | undefined;

  private constructor(port: number, options: HostOptions) {
    this.#options = options;
    this.#port = port;
    mkdirSync(this.workspace);
  }

  static async start(options: HostOptions = {}): Promise<ExecutorHostProcess> {
    const host = new ExecutorHostProcess(await freePort(), options);
    await host.start();
    return host;
  }

  get url(): URL {
    return new URL(`http://127.0.0.1:${this.#port}`);
  }

  get stateRoot(): string {
    return join(this.folder, 'home', 'executor', 'sandboxes');
  }

  /** Of a server that has its sandboxes here. */
  get serverEnvironment(): Readonly<Record<string, string>> {
    return { RUNTIME: 'remote', SANDBOX_REMOTE_RUNTIME_API_URL: this.url.href, SANDBOX_API_KEY: this.key };
  }

  get pid(): number {
    return this.#child?.pid ?? -1;
  }

  /** Again on the same port. */
  async start(): Promise<void> {
    const { driver = 'local', ownWorkspaces = false, key = this.key, environment } = this.#options;
    const folder = ownWorkspaces ? [] : ['--workspace', this.workspace];
    const args = ['executor', '--port', String(this.#port), '--driver', driver, '--home', join(this.folder, 'home'), ...folder];
    const child = spawn(process.execPath, [builtTendon(), ...args], {
      env: { PATH: process.env.PATH, HOME: this.folder, TENDON_EXECUTOR_KEY: key, LOG_LEVEL: 'warn', ...environment },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.#child = child;
    const lines = createInterface({ input: child.stdout });
    const ended = once(child, 'exit').then(() => Promise.reject(new Error('the executor host did not start')));
    ended.catch(() => undefined);
    await waitFor(Promise.race([once(lines, 'line'), ended]), () => 'the first line of the executor host');
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  }

  call(path: string, init: RequestInit = {}): Promise<Response> {
    return fetch(new URL(path, this.url), { ...init, headers: { 'x-session-api-key': this.key, ...init.headers } });
  }

  /** Ends every sandbox of it, then the host; removes its files. */
  async remove(): Promise<void> {
    for (const { conversation_id: id } of (await (await this.call('/sandboxes')).json()) as { conversation_id: string }[]) {
      await this.call(`/conversations/${id}`, { method: 'DELETE' });
    }
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
