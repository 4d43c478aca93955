import { mkdtemp, rm, stat, cp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  readEvents,
  saveTrajectory,
  systemClock,
  type Config,
  type RecordedLog,
  composeEngine,
  readConfig,
  type Runtime,
} from '@tendon/server/headless';
import { EXIT } from '../add-command.ts';
import { watchInterruption } from '../terminal/interruption.ts';
import { plannedSteps, type Step } from './planned-steps.ts';
import { replaySteps, type ReplayResult } from './replay-steps.ts';
import { printable } from '../terminal/printable.ts';

export interface ReplayOptions {
  /** A file, a folder, or the id of a conversation. */
  readonly target: string;
  readonly all: boolean;
  readonly json: boolean;
  readonly workspace: string | undefined;
  readonly env: NodeJS.ProcessEnv;
  readonly config: Config;
}

/** Replays a recording, reports on standard output, and leaves nothing. Resolves with the exit code. */
export async function replayRecording(options: ReplayOptions): Promise<number> {
  using interruption = watchInterruption(process.stdout);
  const { asked, forced } = interruption;
  forced.addEventListener('abort', () => process.exit(EXIT.interrupted));
  interruption.armed();
  const home = await mkdtemp(join(tmpdir(), 'tendon-replay-'));
  try {
    const steps = await readSteps(options, home, asked).catch((cause: unknown) => {
      asked.throwIfAborted();
      printError(cause);
      return undefined;
    });
    if (!steps) return EXIT.usage;
    const { env, workspace, all } = options;
    const onStep = (step: Step, index: number): void => {
      const left = step.left === undefined ? '' : ` (left out: ${step.left})`;
      process.stderr.write(`${index + 1} of ${steps.length}: ${shortly(step.action)}${left}\n`);
    };
    const result = await withFreshSandbox({ env, home, workspace, signal: asked }, (runtime) =>
      replaySteps(runtime, steps, { all, signal: asked, onStep }),
    );
    process.stdout.write(options.json ? replayJson(result) : replayReport(result));
    return result.differences.length === 0 ? EXIT.done : EXIT.failed;
  } catch (cause) {
    if (asked.aborted) return EXIT.interrupted;
    printError(cause);
    return EXIT.failed;
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

/** Rejects with a user-facing error if there is nothing to repeat. */
async function readSteps({ target, workspace, config }: ReplayOptions, home: string, signal: AbortSignal): Promise<readonly Step[]> {
  if (workspace !== undefined && !(await kindOf(workspace))?.isDirectory()) throw new Error(`${workspace} is not a folder.`);
  const steps = await plannedSteps(await openRecording(target, { config, home, signal }), printError);
  if (steps.length === 0) throw new Error(`${target} has no action that a sandbox carried out: there is nothing to do again.`);
  return steps;
}

interface Place {
  readonly config: Config;
  readonly home: string;
  readonly signal: AbortSignal;
}

async function openRecording(target: string, { config, home, signal }: Place): Promise<RecordedLog> {
  const found = await kindOf(target);
  if (found) return readEvents({ id: 'recording', path: target, kind: found.isDirectory() ? 'folder' : 'trajectory' });
  if (!/^[A-Za-z0-9][\w-]{0,99}$/.test(target)) throw new Error(`${target} is not there.`);
  const to = join(home, 'recording.json');
  await saveTrajectory({ id: target, config, clock: systemClock, to, signal });
  return readEvents({ id: target, path: to, kind: 'trajectory' });
}

function kindOf(path: string) {
  return stat(path).catch(() => undefined);
}

function printError(cause: unknown): void {
  process.stderr.write(`${cause instanceof Error ? cause.message : String(cause)}\n`);
}

const MAX_LINES = 40;

/** For people. */
function replayReport({ done, compared, left, differences }: ReplayResult): string {
  const parts = differences.map(
    ({ event, action, what, recorded, replayed }) =>
      `Event ${event}, ${shortly(action)}: the ${what} differs.\n${marked('-', recorded)}\n${marked('+', replayed)}\n`,
  );
  const counts = `${done} done again, ${compared} compared${left > 0 ? `, ${left} left out` : ''}`;
  return `${parts.join('')}${differences.length > 0 ? 'Different' : 'Equal'}: ${counts}.\n`;
}

/** For programs: one line. */
function replayJson(result: ReplayResult): string {
  const differences = result.differences.map(({ action, ...rest }) => ({ ...rest, action: action.action, args: action.args }));
  return `${JSON.stringify({ equal: differences.length === 0, ...result, differences })}\n`;
}

/** An action in a few words. */
function shortly({ action, args }: Step['action']): string {
  const { command, code, path } = args as { readonly command?: string; readonly code?: string; readonly path?: string };
  const text = printable(JSON.stringify(path ?? command ?? code ?? ''));
  return `${action} ${text.length > 80 ? `${text.slice(0, 77)}…"` : text}`;
}

function marked(mark: string, text: string): string {
  const lines = printable(text).split('\n');
  const more = lines.length - MAX_LINES;
  const shown = more > 0 ? [...lines.slice(0, MAX_LINES), `… ${more} more lines; --json has them all`] : lines;
  return shown.map((line) => `${mark} ${line}`).join('\n');
}

interface FreshSandboxOptions {
  /** The user's environment, which says how sandboxes are made. */
  readonly env: NodeJS.ProcessEnv;
  /** A folder for this replay only; the caller removes it. */
  readonly home: string;
  /** Copied into the workspace, which is empty otherwise. */
  readonly workspace: string | undefined;
  readonly signal: AbortSignal;
}

const START_MS = 300_000;

/** Settings that a replay must not share with the user's own work: a recording may come from a stranger. */
const NOT_TAKEN = ['WORKSPACE_BASE', 'TENDON_ALLOWED_DIRS', 'SANDBOX_VOLUMES', 'SANDBOX_PORTS', 'LLM_API_KEY', 'SESSION_API_KEY'];

/** Calls `use` with a new sandbox, and ends the sandbox afterwards. Rejects with a user-facing error. */
async function withFreshSandbox<T>(options: FreshSandboxOptions, use: (runtime: Runtime) => Promise<T>): Promise<T> {
  const without = Object.fromEntries(NOT_TAKEN.map((name) => [name, undefined]));
  const read = readConfig({ ...options.env, ...without, TENDON_HOME: options.home, LOG_LEVEL: 'silent' });
  if (!read.ok) throw new Error(read.problems.join('\n'));
  const engine = await composeEngine(read.config, { clock: systemClock });
  try {
    const created = await engine.conversations.create({});
    if (!created.ok) throw new Error(created.error.message);
    const { id, workspace } = created.record;
    try {
      if (options.workspace !== undefined) await cp(options.workspace, workspace, { recursive: true, verbatimSymlinks: true });
      const signal = AbortSignal.any([options.signal, AbortSignal.timeout(START_MS)]);
      return await use(await engine.runtimes.acquire(id, { signal }));
    } finally {
      await engine.runtimes.stop(id, { forGood: true });
    }
  } finally {
    await engine.close();
  }
}
