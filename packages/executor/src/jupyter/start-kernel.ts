import { request as httpRequest, type IncomingMessage } from 'node:http';
import type { ChildProcess } from 'node:child_process';
import { readLines } from '@tendon/protocol/node';
import {
  installCommand,
  KERNEL_PACKAGES_NAME,
  readPythonKind,
  sharedKind,
  type PackagesLine,
  type PythonKind,
} from '@tendon/protocol/executor-api';
import { type HandlerContext, reasonOf } from '../action-handler.ts';
import type { Place } from '../shell/shell-memory.ts';
import { KernelFailed, openKernel, type Kernel } from './kernel.ts';
import { startKernelProcess, type KernelEnd, type KernelPlace } from './kernel-process.ts';
import * as words from './kernel-words.ts';
import { EXIT_NO_IPYKERNEL, EXIT_NO_PYTHON } from './kernel-code.ts';
import { killGroup, spawnDetached, type DetachedOptions } from '../shell/detached-process.ts';

/** For the host to install packages for all its sandboxes. */
const ASKED_MS = 360_000;
const LIMITS = { maxLine: 100_000, maxTotal: 1_000_000 };

/** A Python that has no `ipykernel`, as the launch script reports it. */
interface BarePython extends PythonKind {
  readonly interpreter: string;
}

const INSTALL_MS = 300_000;
const TAIL_CHARS = 2000;

/**
 * Starts a kernel in the shell's folder and environment. Where `ipykernel` is missing the host is asked for it, for all its
 * sandboxes; where it does not do that, it is installed for this one. Or the sentence why there is none.
 */
export async function startKernel(options: KernelPlace, place: Place, context: HandlerContext): Promise<Kernel | string> {
  const first = await attempt(options, place, context.signal);
  if (!(first instanceof KernelFailed) || first.end.code !== EXIT_NO_IPYKERNEL) return orSentence(first);
  const python = barePythonOf(first.end);
  const folder = options.packageFolders.at(-1);
  if (python === undefined || folder === undefined) return words.notStarted(first.message);
  if (options.proxySocketPath !== undefined && (await askForPackages(options.proxySocketPath, python.tag, context))) {
    const second = await attempt(options, place, context.signal);
    if (!(second instanceof KernelFailed) || second.end.code !== EXIT_NO_IPYKERNEL) return orSentence(second);
  }
  const failure = await installIpykernel(python, folder, options.detached, place, context);
  if (failure !== undefined) return words.notInstalled(python.interpreter, failure);
  return orSentence(await attempt(options, place, context.signal));
}

function attempt(options: KernelPlace, place: Place, signal: AbortSignal): Promise<Kernel | Error> {
  return openKernel(startKernelProcess(options, place), signal).catch((error: unknown) =>
    error instanceof Error ? error : new Error(reasonOf(error)),
  );
}

function orSentence(result: Kernel | Error): Kernel | string {
  if (result instanceof KernelFailed && result.end.code === EXIT_NO_PYTHON) return words.noPython();
  return result instanceof Error ? words.notStarted(result.message) : result;
}

/** Asks the host to have packages for this kind of Python in the folder that all its sandboxes see. True when they are there. */
async function askForPackages(
  proxySocketPath: string,
  tag: string,
  { signal, output }: { readonly signal: AbortSignal; readonly output: (text: string) => void },
): Promise<boolean> {
  if (sharedKind(tag) === undefined) return false;
  try {
    const response = await ask(proxySocketPath, tag, AbortSignal.any([signal, AbortSignal.timeout(ASKED_MS)]));
    if (response.statusCode !== 200) return false;
    for await (const text of readLines(response, LIMITS)) {
      const line = JSON.parse(text) as PackagesLine;
      if ('output' in line) output(line.output);
      else return line.ready;
    }
  } catch {
    // no host that does it, or it went away: there is another way
  }
  return false;
}

function ask(socketPath: string, tag: string, signal: AbortSignal): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const path = `http://${KERNEL_PACKAGES_NAME}/${tag}`;
    httpRequest({ socketPath, method: 'POST', path, headers: { host: KERNEL_PACKAGES_NAME }, signal }, resolve)
      .on('error', reject)
      .end();
  });
}

/** From the last words of the launch script; nothing when it printed something else. */
function barePythonOf({ tail }: KernelEnd): BarePython | undefined {
  const [interpreter, tag, version] = tail.trimEnd().split('\n').slice(-3);
  const kind = readPythonKind(tag ?? '', version ?? '');
  return interpreter !== undefined && kind !== undefined ? { interpreter, ...kind } : undefined;
}

/**
 * Installs `ipykernel` below `folder` with the first pip that is found, for this Python alone and not into it. Takes half a
 * minute; says so and streams pip's words. Resolves with nothing when it is there, else with pip's last words.
 */
async function installIpykernel(
  python: BarePython,
  folder: string,
  options: DetachedOptions,
  place: Place,
  { signal, output }: HandlerContext,
): Promise<string | undefined> {
  output(`Installing ipykernel for ${python.interpreter} (once) …\n`);
  const child = spawnDetached(
    options,
    place,
    installCommand(python, folder, [python.interpreter, 'python3', '/usr/bin/python3']),
    undefined,
    'pipe',
  );
  const stop = (): void => killGroup(child, 'SIGKILL');
  const timer = setTimeout(stop, INSTALL_MS);
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
