/** Runtimes for unit tests: one real `bash -c` per run action in a folder of the host, and `cat` for a read, with the journal an executor keeps. */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { EditObservation, ErrorObservation, ReadObservation, RunObservation, type ObservationDraft } from '@tendon/protocol';
import type { Checkpoint, ExecuteOptions, ExecuteResult, RunnableAction, Runtime, Runtimes } from '../sandbox/runtime.ts';

export interface HostRuntimes extends Runtimes {
  /** Keys in the order they were started, over all incarnations. */
  readonly started: readonly string[];
  /** What every acquire rejects with from now on; without a message they succeed again. */
  failStarts(message?: string): void;
  /** The sandbox dies: what runs in it has an unknown outcome, and the next acquire starts another. */
  kill(): void;
  /** The next action is refused before it starts. */
  refuseNext(): void;
  /** From now on another server has the conversation: every action is refused for that, before it starts or while it runs. */
  fence(): void;
}

export function createHostRuntimes(cwd: string): HostRuntimes {
  const started: string[] = [];
  const children = new Set<ChildProcess>();
  let generation = 0;
  let startFailure: string | undefined;
  let refusing = false;
  const fenced = Promise.withResolvers<ExecuteResult>();
  let isFenced = false;
  let live: { readonly runtime: Runtime; die(): void } | undefined;

  function start(conversationId: string): { readonly runtime: Runtime; die(): void } {
    const incarnation = `host-${++generation}`;
    const journal = new Map<string, { readonly result: Promise<ExecuteResult>; readonly child: AbortController }>();
    const death = Promise.withResolvers<ExecuteResult>();
    const lost = Promise.withResolvers<string>();
    const runtime: Runtime = {
      incarnation,
      strength: 'none',
      description: 'bash on the host, for tests',
      workspace: cwd,
      lost: lost.promise,
      output: async () => undefined,
      files: { ...hostFiles(cwd), checkpoints: async () => ({ checkpoints: checkpointsOf(started), leftOut: [] }) },
      async execute(action, options) {
        if (action.executor !== incarnation) return { outcome: 'unknown', reason: `${action.executor} is gone` };
        if (isFenced) return fenced.promise;
        const key = `${conversationId}:${options.epoch}:${action.id}`;
        let effect = journal.get(key);
        if (!effect && (refusing || options.signal.aborted)) {
          refusing = false;
          return { outcome: 'not-started', reason: 'the sandbox could not take it' };
        }
        if (!effect) {
          started.push(key);
          const child = new AbortController();
          const observation = runAction(action, { cwd, children, onOutput: options.onOutput, signal: child.signal });
          effect = { child, result: observation.then((done): ExecuteResult => ({ outcome: 'observed', observation: done })) };
          journal.set(key, effect);
        }
        const { child, result } = effect;
        if (options.signal.aborted) child.abort();
        else options.signal.addEventListener('abort', () => child.abort(), { once: true });
        return Promise.race([result, death.promise, fenced.promise]);
      },
    };
    const die = (): void => {
      death.resolve({ outcome: 'unknown', reason: 'the sandbox died' });
      lost.resolve('killed');
    };
    return { runtime, die };
  }

  return {
    started,
    failStarts: (message) => (startFailure = message),
    refuseNext: () => (refusing = true),
    fence() {
      isFenced = true;
      fenced.resolve({ outcome: 'fenced', reason: 'another server has taken the conversation over' });
    },
    kill() {
      live?.die();
      live = undefined;
    },
    async acquire(conversationId, { onPhase }) {
      if (startFailure !== undefined) throw new Error(startFailure);
      if (!live) {
        for (const phase of ['starting', 'started', 'workspace', 'ready'] as const) onPhase?.(phase);
        live = start(conversationId);
      }
      return live.runtime;
    },
    current: () => live?.runtime,
    async stop() {
      live = undefined;
      for (const child of children) killGroup(child);
    },
  };
}

/** One for each action that was started. */
function checkpointsOf(started: readonly string[]): readonly Checkpoint[] {
  const all = started.map((key, index): Checkpoint => {
    const [, epoch, id] = key.split(':');
    return { number: index + 1, actionId: Number(id), epoch, isOfRestore: false, at: 0, files: 0 };
  });
  return all.toReversed();
}

/** No sandbox: tests put there what they want read. */
function hostFiles(cwd: string): Omit<Runtime['files'], 'checkpoints'> {
  return {
    list: async (path) =>
      (await readdir(join(cwd, path), { withFileTypes: true })).map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)),
    read: (path) => readFile(join(cwd, path)),
    async write(path, bytes) {
      await mkdir(dirname(join(cwd, path)), { recursive: true });
      await writeFile(join(cwd, path), bytes);
    },
    compareCheckpoint: async () => ({ count: 0, changes: [] }),
    checkpointFile: async () => ({ state: 'absent' }),
    linesToEdit: async () => ({ state: 'refused', reason: 'there is no editor here' }),
  };
}

interface RunOptions extends ExecuteOptions {
  readonly cwd: string;
  readonly children: Set<ChildProcess>;
}

async function runAction(action: RunnableAction, { cwd, children, signal, onOutput }: RunOptions): Promise<ObservationDraft> {
  if (action.action === 'edit' && action.args.command === 'create') {
    const { path, file_text } = action.args;
    await writeFile(join(cwd, basename(path)), file_text ?? '');
    return EditObservation.create('', { path });
  }
  if (action.action !== 'run' && action.action !== 'read') return ErrorObservation.create(`no ${action.action} here`, {});
  const command = action.action === 'run' ? action.args.command : `cat -- '${action.args.path}'`;
  const child = spawn('bash', ['-c', command], { cwd, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  children.add(child);
  let content = '';
  const take = (bytes: Buffer): void => {
    onOutput?.({ offset: Buffer.byteLength(content), text: bytes.toString() });
    content += bytes.toString();
  };
  child.stdout.on('data', take);
  child.stderr.on('data', take);
  signal.addEventListener('abort', () => killGroup(child), { once: true });
  const exit_code = await new Promise<number>((resolve) => child.on('close', (code) => resolve(code ?? 137)));
  children.delete(child);
  if (action.action === 'read') return ReadObservation.create(content.trimEnd(), { path: action.args.path });
  const metadata = { exit_code, working_dir: cwd };
  return { ...RunObservation.create(content.trimEnd(), { command, metadata }), success: exit_code === 0 };
}

function killGroup({ pid, exitCode, signalCode }: ChildProcess): void {
  if (pid !== undefined && exitCode === null && signalCode === null) process.kill(-pid, 'SIGKILL');
}
