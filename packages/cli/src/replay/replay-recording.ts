import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readEvents, saveTrajectory, systemClock, type Config, type RecordedLog } from '@tendon/server/headless';
import { EXIT } from '../exit-code.ts';
import { watchInterruption } from '../terminal/interruption.ts';
import { plannedSteps, type Step } from './planned-steps.ts';
import { replayJson, replayReport, shortly } from './replay-report.ts';
import { replaySteps } from './replay-steps.ts';
import { withFreshSandbox } from './with-fresh-sandbox.ts';

export interface ReplayOptions {
  /** A file, a folder, or the id of a conversation. */
  readonly target: string;
  readonly all: boolean;
  readonly json: boolean;
  readonly workspace: string | undefined;
  readonly env: NodeJS.ProcessEnv;
  readonly config: Config;
}

/** Does it, reports on standard output, and leaves nothing. Resolves with the exit code. */
export async function replayRecording(options: ReplayOptions): Promise<number> {
  using interruption = watchInterruption(process.stdout);
  const { asked, forced } = interruption;
  forced.addEventListener('abort', () => process.exit(EXIT.interrupted));
  interruption.armed();
  const home = await mkdtemp(join(tmpdir(), 'tendon-replay-'));
  try {
    const steps = await readSteps(options, home, asked).catch((cause: unknown) => {
      asked.throwIfAborted();
      tell(cause);
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
    tell(cause);
    return EXIT.failed;
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

/** Rejects with a user-facing error when there is nothing that can be done again. */
async function readSteps({ target, workspace, config }: ReplayOptions, home: string, signal: AbortSignal): Promise<readonly Step[]> {
  if (workspace !== undefined && !(await kindOf(workspace))?.isDirectory()) throw new Error(`${workspace} is not a folder.`);
  const steps = await plannedSteps(await openRecording(target, { config, home, signal }), tell);
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

function tell(cause: unknown): void {
  process.stderr.write(`${cause instanceof Error ? cause.message : String(cause)}\n`);
}
