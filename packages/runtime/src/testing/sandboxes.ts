/** Real sandboxes for tests: a temporary workspace and state root, memory or sqlite records, and a count of what is left. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createMemoryStorage } from '@tendon/core/storage';
import type { Clock, ExecuteOptions, ExecuteResult, RecordStore, RunnableAction, Runtime } from '@tendon/core';
import { ACTIONS, type ObservationDraft } from '@tendon/protocol';
import { groupsNamed } from '../processes/control-group.ts';
import type { SandboxDriver, SandboxHandle } from '../drivers/driver.ts';
import type { ExecutorFolder } from '../drivers/start/executor-folder.ts';
import { findProcesses, type ProcessIdentity } from '../processes/process-identity.ts';
import { createSandboxPool } from '../pool/create-sandbox-pool.ts';
import type { SandboxPoolOptions, SandboxPool } from '../pool/sandbox-pool.ts';
import type { SandboxRecord } from '../sandbox/sandbox-record.ts';

const root = fileURLToPath(new URL('../../../..', import.meta.url));
/** Of a quick test that starts sandboxes: the default of 15 seconds (vitest.config.ts) leaves it no room on a busy machine. */
export const SANDBOX_TEST_MS = 120_000;
export const never = new AbortController().signal;

let builtFolder: string | undefined;

/** Builds the executor, once a process, if its sources have changed. */
export function executorFolder(): ExecutorFolder {
  builtFolder ??= execFileSync(process.execPath, [join(root, 'scripts/build-executor.mjs')], { encoding: 'utf8' }).trim();
  return { folder: builtFolder, entry: 'main.mjs', node: process.execPath };
}

export const wallClock: Clock = {
  now: () => new Date(),
  sleep: (ms, { signal }) => delay(ms, undefined, { signal }),
};

export interface TestSandboxes {
  readonly folder: string;
  readonly workspace: string;
  readonly stateRoot: string;
  readonly records: RecordStore;
  readonly runtimes: SandboxPool;
  readonly notices: string[];
  /** Another server over the same records and folders, as after a restart. */
  restart(): Promise<SandboxPool>;
  record(conversationId: string): Promise<SandboxRecord | undefined>;
  handle(conversationId: string): Promise<SandboxHandle>;
  close(): Promise<void>;
}

export function createTestSandboxes(
  driver: SandboxDriver,
  options: Partial<SandboxPoolOptions> & { readonly folder?: string } = {},
): TestSandboxes {
  const folder = realpathSync(options.folder ?? mkdtempSync(join(tmpdir(), 'tendon-sandbox-')));
  const workspace = mkdtempSync(join(folder, 'workspace-'));
  const stateRoot = join(folder, 'state');
  const records = options.records ?? createMemoryStorage({ clock: wallClock }).records;
  const notices: string[] = [];
  const open = (): SandboxPool =>
    createSandboxPool({
      records,
      driver,
      stateRoot,
      workspaceOf: async () => ({ hostPath: workspace }),
      clock: wallClock,
      onNotice: (notice) => notices.push(notice),
      ...options,
    });
  const all: SandboxPool[] = [open()];
  const record = (id: string): Promise<SandboxRecord | undefined> => records.get<SandboxRecord>('sandboxes', id);
  const [runtimes] = all as [SandboxPool];
  return {
    folder,
    workspace,
    stateRoot,
    records,
    runtimes,
    notices,
    async restart() {
      await all.at(-1)?.close();
      const next = open();
      all.push(next);
      return next;
    },
    record,
    async handle(id) {
      const found = await record(id);
      if (found?.state !== 'live') throw new Error(`the sandbox of ${id} is not live`);
      return found.handle;
    },
    async close() {
      await all.at(-1)?.close({ stopSandboxes: true });
      const known = await records.list<SandboxRecord>('sandboxes');
      await driver.endIncarnations(known.map(({ value }) => value.incarnation));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

let nextId = 0;

/** An appended `run` action, as the engine would dispatch it to this runtime. */
export function runAction(runtime: Runtime, command: string, more: Partial<RunnableAction> = {}): RunnableAction {
  const draft = ACTIONS.run.create({ command });
  const meta = { id: nextId++, timestamp: new Date().toISOString(), source: 'agent', executor: runtime.incarnation } as const;
  return { ...meta, ...draft, ...more } as RunnableAction;
}

export async function execute(runtime: Runtime, command: string, signal = never): Promise<ExecuteResult> {
  return runtime.execute(runAction(runtime, command), { signal });
}

/** Carries out any action, given as its draft. Rejects unless it was observed. */
export async function observe(runtime: Runtime, draft: object, options: Partial<ExecuteOptions> = {}): Promise<ObservationDraft> {
  const result = await runtime.execute(runAction(runtime, '', draft as Partial<RunnableAction>), { signal: never, ...options });
  if (result.outcome !== 'observed') throw new Error(result.reason);
  return result.observation;
}

export interface Ran {
  readonly output: string;
  readonly exitCode: number;
}

/** Seconds; a command with a time of its own may be silent all the while, as on a busy machine any may be. */
const PATIENT = 60;

/** Runs a command to its end. Rejects unless it was observed. */
export async function run(runtime: Runtime, command: string, { seconds = PATIENT } = {}): Promise<Ran> {
  const seen = await observe(runtime, { ...ACTIONS.run.create({ command }), timeout: seconds });
  if (seen.observation !== 'run') throw new Error(JSON.stringify(seen).slice(0, 2000));
  return { output: seen.content.replaceAll('\r\n', '\n').trim(), exitCode: seen.extras.metadata.exit_code };
}

/** Everything of one incarnation that can still be found on this machine. */
export function leftOf(incarnation: string, stateRoot: string): readonly string[] {
  const mounts = readFileSync('/proc/self/mountinfo', 'utf8').split('\n');
  const folders = existsSync(stateRoot) ? readdirSync(stateRoot, { recursive: true }).map(String) : [];
  const short = ['/run', '/tmp', process.env.XDG_RUNTIME_DIR ?? '/run'].flatMap((base) =>
    readdirSync(base)
      .filter((name) => name.startsWith('tendon-'))
      .map((name) => join(base, name, incarnation))
      .filter((path) => existsSync(path)),
  );
  return [
    ...findProcesses(incarnation, 'cmdline').map((pid) => `process ${pid}`),
    ...findProcesses(incarnation, 'environ').map((pid) => `process ${pid}`),
    ...mounts.filter((line) => line.includes(incarnation)).map((line) => `mount ${line}`),
    ...groupsNamed([incarnation]).map((path) => `group ${path}`),
    ...folders.filter((path) => path.includes(incarnation)).map((path) => `folder ${path}`),
    ...short.map((path) => `folder ${path}`),
  ];
}

/** The process that stands for a sandbox of a driver that has one. */
export function anchorOf({ anchor }: SandboxHandle): ProcessIdentity {
  if (anchor === undefined) throw new Error('no process of this host stands for the sandbox');
  return anchor;
}

/** Resolves when the condition holds; rejects after a minute and a half: a deadline, not a measurement. For what only another process knows. */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + 90_000;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`it never came to this: ${what}`);
    await delay(10);
  }
}
