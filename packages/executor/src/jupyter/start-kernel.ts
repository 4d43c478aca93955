import { askForPackages } from './ask-for-packages.ts';
import type { HandlerContext } from '../action-handler.ts';
import { reasonOf } from '../observation.ts';
import type { Place } from '../shell/session.ts';
import { barePythonOf, installIpykernel } from './install-ipykernel.ts';
import { KernelFailed, openKernel, type Kernel } from './kernel.ts';
import { startKernelProcess, type KernelPlace } from './kernel-process.ts';
import * as words from './kernel-words.ts';
import { EXIT_NO_IPYKERNEL, EXIT_NO_PYTHON } from './launch-script.ts';

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
  const failure = await installIpykernel(python, folder, options.beside, place, context);
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
