import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExecutorConfig } from '@tendon/protocol/executor-api';
import type { ActionHandler } from '../action-handler.ts';
import type { ShellTools } from '../shell/shell-tools.ts';
import type { CellRunner, KernelBefore } from './run-cell.ts';

const DEFAULT_TIMEOUT_SECONDS = 120;
/** Where a driver shows packages that were prepared for all sandboxes; one folder for each version of Python. */
const SHARED_PACKAGES = '/opt/tendon/kernel';
/** A unix socket's path holds 107 bytes. */
const MAX_SOCKETS_DIR = 70;

export interface LazyKernelOptions {
  readonly config: ExecutorConfig;
  readonly shell: Promise<ShellTools>;
  /** Python that runs in every new kernel before anything else. */
  readonly preload: () => string;
  readonly before: KernelBefore | undefined;
}

export interface LazyKernel {
  readonly run: ActionHandler;
  /** Brings the kernel up ahead of the first cell; resolves with the sentence why it cannot be had. */
  warm(signal: AbortSignal): Promise<string | undefined>;
  isUp(): boolean;
  initCode(): string;
  ports(): readonly number[];
  /** What is not the agent's, in the executor's numbering. */
  processes(): readonly number[];
  close(): void;
}

/** `run_ipython`, of which nothing is loaded and nothing made before the first cell: a sandbox without Jupyter pays nothing. */
export function createLazyKernel({ config, shell, preload, before }: LazyKernelOptions): LazyKernel {
  let tool: CellRunner | undefined;
  let loading: Promise<CellRunner> | undefined;

  async function load(): Promise<CellRunner> {
    const [tools, { CellRunner: Runner }] = await Promise.all([shell, import('./run-cell.ts')]);
    // The kernel must reach it too, so it cannot be with the executor's own things.
    const base = tmpdir().length > MAX_SOCKETS_DIR ? '/tmp' : tmpdir();
    const home = tools.detached.env.HOME ?? base;
    const { proxySocketPath } = config.network ?? {};
    tool = new Runner({
      temporary: base,
      packageFolders: [SHARED_PACKAGES, join(home, '.cache/tendon/kernel')],
      ...(proxySocketPath !== undefined && { proxySocketPath }),
      detached: { ...tools.detached, env: { ...tools.detached.env, ...KERNEL_ENVIRONMENT, ...parentWatch(tools.detached) } },
      place: tools.place,
      preload: preload(),
      ...(before && { before }),
      noOutputSeconds: config.limits.noOutputTimeoutSeconds,
      defaultTimeoutSeconds: DEFAULT_TIMEOUT_SECONDS,
      ...(config.limits.output && { outputChars: config.limits.output.chars }),
    });
    return tool;
  }

  function loaded(): Promise<CellRunner> {
    loading ??= load();
    loading.catch(() => (loading = undefined));
    return loading;
  }

  return {
    run: async (request, context) => (await loaded()).run(request, context),
    warm: async (signal) => (await loaded()).warm({ signal, output: () => {}, outputPath: () => undefined }),
    isUp: () => tool?.isUp() ?? false,
    initCode: () => tool?.initCode() ?? before?.kernelInitCode ?? '',
    ports: () => tool?.ports() ?? [],
    processes: () => tool?.processes() ?? [],
    close: () => tool?.close(),
  };
}

/** Beside the executor, where nothing else ends it: a kernel then watches its parent. */
function parentWatch({ enter }: ShellTools['detached']): Record<string, string> {
  return enter.length === 0 ? { JPY_PARENT_PID: String(process.pid) } : {};
}

const KERNEL_ENVIRONMENT = {
  PIP_BREAK_SYSTEM_PACKAGES: '1', // `%pip` installs for the user, who is alone here
  PYDEVD_DISABLE_FILE_VALIDATION: '1',
} as const;
