import type { ChildProcess } from 'node:child_process';
import { installCommand, type PythonKind, readPythonKind } from '@tendon/protocol/executor-api';
import type { HandlerContext } from '../action-handler.ts';
import type { Place } from '../shell/session.ts';
import { killGroup, spawnBeside, type BesideOptions } from '../shell/spawn-beside.ts';
import type { KernelEnd } from './kernel-process.ts';

/** A Python that has no `ipykernel`, as the launch script tells it. */
export interface BarePython extends PythonKind {
  readonly interpreter: string;
}

const DEADLINE_MS = 300_000;
const TAIL_CHARS = 2000;

/** From the last words of the launch script; nothing when it said something else. */
export function barePythonOf({ tail }: KernelEnd): BarePython | undefined {
  const [interpreter, tag, version] = tail.trimEnd().split('\n').slice(-3);
  const kind = readPythonKind(tag ?? '', version ?? '');
  return interpreter !== undefined && kind !== undefined ? { interpreter, ...kind } : undefined;
}

/**
 * Installs `ipykernel` below `folder` with the first pip that is found, for this Python alone and not into it. Takes half a
 * minute; says so and streams pip's words. Resolves with nothing when it is there, else with pip's last words.
 */
export async function installIpykernel(
  python: BarePython,
  folder: string,
  options: BesideOptions,
  place: Place,
  { signal, output }: HandlerContext,
): Promise<string | undefined> {
  output(`Installing ipykernel for ${python.interpreter} (once) …\n`);
  const child = spawnBeside(
    options,
    place,
    installCommand(python, folder, [python.interpreter, 'python3', '/usr/bin/python3']),
    undefined,
    'pipe',
  );
  const stop = (): void => killGroup(child, 'SIGKILL');
  const timer = setTimeout(stop, DEADLINE_MS);
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  try {
    const { isDone, tail } = await finished(child, output);
    return isDone ? undefined : tail.trim() || 'no pip was found';
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  }
}

function finished(child: ChildProcess, output: (text: string) => void): Promise<{ readonly isDone: boolean; readonly tail: string }> {
  let tail = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      tail = (tail + text).slice(-TAIL_CHARS);
      output(text);
    });
  }
  return new Promise((resolve) => {
    child.on('error', (error) => resolve({ isDone: false, tail: error.message }));
    child.on('exit', (code) => setImmediate(() => resolve({ isDone: code === 0, tail })));
  });
}
