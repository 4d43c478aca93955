import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { ObservationDraft } from '@tendon/protocol';
import type { ExecuteLine, ExecuteRequest, ExecutorConfig } from '@tendon/protocol/executor-api';

/** A real executor in a process of its own on a folder of its own, for tests. */
export interface TestExecutor {
  readonly process: ChildProcess;
  readonly workspace: string;
  readonly config: ExecutorConfig;
  /** Where it answers, when it was given a port. */
  readonly url: URL;
  call(method: string, path: string, body?: unknown): Promise<{ readonly status: number; readonly body: string }>;
  /** All lines of one request. */
  lines(request: Partial<ExecuteRequest> & { action: ExecuteRequest['action'] }): Promise<ExecuteLine[]>;
  /** The observation of one action under a fresh key. */
  act(action: string, args: Record<string, unknown>, timeout?: number): Promise<ObservationDraft>;
  run(command: string, args?: Record<string, unknown>, timeout?: number): Promise<RunSeen>;
  kill(): Promise<void>;
}

/** The parts of a `run` observation that tests look at. */
export interface RunSeen {
  readonly content: string;
  readonly exitCode: number;
  readonly prefix: string;
  readonly suffix: string;
  readonly workingDir: string | null;
  readonly extras: Readonly<Record<string, unknown>>;
}

/** The rest is as tests need it. */
export interface ConfigOverrides extends Pick<Partial<ExecutorConfig>, 'incarnation' | 'endpoint' | 'network' | 'plugins' | 'checkpoints'> {
  readonly folders?: Partial<ExecutorConfig['folders']>;
  readonly shell?: Partial<ExecutorConfig['shell']>;
  readonly limits?: Partial<ExecutorConfig['limits']>;
}

let built: string | undefined;

/** The program as it is shipped; built, once a process, if its sources have changed. */
function builtExecutor(): string {
  const script = join(import.meta.dirname, '../../../../scripts/build-executor.mjs');
  built ??= join(execFileSync(process.execPath, [script], { encoding: 'utf8' }).trim(), 'main.mjs');
  return built;
}

export async function startExecutor(overrides: ConfigOverrides = {}, env: NodeJS.ProcessEnv = {}): Promise<TestExecutor> {
  const folder = mkdtempSync(join(tmpdir(), 'tendon-x-'));
  const workspace = join(folder, 'workspace');
  mkdirSync(workspace);
  mkdirSync(join(folder, 'socket'));
  const config: ExecutorConfig = {
    incarnation: 'one',
    ...overrides,
    endpoint: overrides.endpoint ?? { socketPath: join(folder, 'socket', 's') },
    folders: { stateDir: join(folder, 'state'), workspace, workDir: workspace, ...overrides.folders },
    shell: { program: '/bin/bash', ...overrides.shell },
    limits: { noOutputTimeoutSeconds: 10, leaseSeconds: 600, ...overrides.limits },
  };
  const child = spawn(process.execPath, [builtExecutor(), '--config', JSON.stringify(config)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: process.env.PATH, HOME: workspace, ...env },
  });
  const address = { socketPath: config.endpoint.socketPath };
  let keys = 0;

  function open(method: string, path: string, body?: unknown): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const isBytes = typeof body === 'string' || body instanceof Uint8Array;
      httpRequest({ ...address, method, path }, resolve)
        .on('error', reject)
        .end(body === undefined ? undefined : isBytes ? body : JSON.stringify(body));
    });
  }

  const executor: Omit<TestExecutor, 'url'> = {
    process: child,
    workspace,
    config,
    async call(method, path, body) {
      const response = await open(method, path, body);
      return { status: response.statusCode ?? 0, body: await text(response) };
    },
    async lines(request) {
      keys += 1;
      const { body } = await executor.call('POST', '/execute_action', {
        ...{ key: `test:${keys}`, digest: 'a digest', incarnation: config.incarnation },
        ...request,
      });
      return body.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as ExecuteLine]));
    },
    async act(action, args, timeout) {
      const last = (await executor.lines({ action: { action, args, ...(timeout !== undefined && { timeout }) } })).at(-1);
      if (last?.type !== 'outcome') throw new Error(`no outcome but ${JSON.stringify(last)}`);
      return last.observation;
    },
    async run(command, args = {}, timeout) {
      const { content, extras } = (await executor.act('run', { command, ...args }, timeout)) as ObservationDraft<'run'>;
      const {
        exit_code: exitCode,
        prefix,
        suffix,
        working_dir: workingDir,
      } = extras.metadata ?? { exit_code: -99, prefix: '', suffix: '', working_dir: null };
      return { content, exitCode, prefix, suffix, workingDir, extras };
    },
    async kill() {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGKILL');
        await once(child, 'exit');
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
  const port = await listening(child);
  return { ...executor, url: new URL(`http://127.0.0.1:${port}`) };
}

/** Resolves when it says so, with its port if it has one. */
async function listening(child: ChildProcess): Promise<number> {
  const ended = once(child, 'exit').then(() => Promise.reject(new Error('the executor ended at once')));
  ended.catch(() => {}); // later it may
  const [line] = (await Promise.race([once(child.stdout!, 'data'), ended])) as [Buffer];
  child.stdout!.resume();
  return Number(/on (\d+)/.exec(line.toString())?.[1] ?? 0);
}
