import { createLazyKernel } from '../jupyter/lazy-kernel.ts';
import type { KernelBefore } from '../jupyter/run-cell.ts';
import { reasonOf } from '../action-handler.ts';
import type { Plugin, PluginParts } from './plugin.ts';

/** With an installation of `ipykernel` before it. */
const START_MS = 360_000;

/** `run_ipython`. The kernel comes up with the first cell, or when the plugin is started ahead of it. */
export function createJupyterPlugin({ config, shell, kernelCode, note }: PluginParts): Plugin {
  const kernel = createLazyKernel({ config, shell, preload: kernelCode, before: readNote(note) });
  return {
    name: 'jupyter',
    adds: {
      handlers: { run_ipython: kernel.run },
      ports: kernel.ports,
      hibernation: {
        loses: () => (kernel.isUp() ? 'a kernel keeps its variables' : undefined),
        processes: kernel.processes,
        note: (): KernelBefore => ({ hadKernel: kernel.isUp(), kernelInitCode: kernel.initCode() }),
      },
    },
    async start() {
      try {
        const failure = await kernel.warm(AbortSignal.timeout(START_MS));
        return failure === undefined ? { ok: true } : { ok: false, reason: failure };
      } catch (error) {
        return { ok: false, reason: reasonOf(error) };
      }
    },
    isReady: kernel.isUp,
    stop: kernel.close,
  };
}

function readNote(note: unknown): KernelBefore | undefined {
  const { hadKernel, kernelInitCode } = (note ?? {}) as Partial<KernelBefore>;
  return typeof kernelInitCode === 'string' ? { hadKernel: hadKernel === true, kernelInitCode } : undefined;
}
