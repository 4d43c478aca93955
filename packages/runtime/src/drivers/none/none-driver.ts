import { chmod, mkdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type { ExecutorConfig } from '@tendon/protocol/executor-api';
import {
  createGroups,
  groupsNamed,
  limitsOf,
  processesIn,
  removeGroups,
  type Limits,
  killAll,
  killPids,
} from '../../processes/control-group.ts';
import { socketPathOf, startLogOf, type SandboxDriver, type SandboxHandle, type SandboxSpec } from '../driver.ts';
import { type ExecutorFolder, keepExecutor } from '../start/executor-folder.ts';
import { launch, findProgram } from '../../processes/launch.ts';
import { findIncarnations, identify, isAlive } from '../../processes/process-identity.ts';
import { resourceLimits } from '../start/resource-limits.ts';

export interface NoneDriverOptions {
  readonly executor: ExecutorFolder;
  /** Missing options have their defaults. */
  readonly limits?: Partial<Limits>;
}

/** In the environment of everything that runs, so that it can be found again: the only thing that ties it together here. */
const MARK = 'TENDON_SANDBOX';
const KEPT_VARIABLES = ['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LC_ALL', 'LC_CTYPE', 'TERM', 'TMPDIR', 'TZ'];

/**
 * No isolation: the executor runs on the host as this user. Only for a user who chooses it. What differs from a sandbox: the workspace
 * is its host path (nothing is mounted at `/workspace`) and nothing in it is read-only, the whole disk and network are open, home
 * and /tmp are the host's, and processes that leave both their session and their environment behind are only caught where control
 * groups can be made.
 */
export function createNoneDriver(options: NoneDriverOptions): SandboxDriver {
  // The temporary folders are the host's.
  const limits = { ...limitsOf(options.limits ?? {}), tmpBytes: Infinity };

  async function start(spec: SandboxSpec, { signal }: { readonly signal: AbortSignal }): Promise<SandboxHandle> {
    const { folders, incarnation } = spec;
    for (const path of [folders.host, folders.state, folders.link, folders.proxy]) {
      await mkdir(path, { recursive: true, mode: 0o700 });
      await chmod(path, 0o700);
    }
    const groups = await createGroups(incarnation, limits);
    try {
      const executor = await keepExecutor(options.executor.folder, join(folders.host, 'executor'));
      signal.throwIfAborted();
      const child = launch({
        command: [
          ...ownLimits(limits),
          await realpath(options.executor.node),
          join(executor, options.executor.entry),
          '--config',
          configOf(spec),
        ],
        groups: groups.inner,
        environment: { ...hostEnvironment(), [MARK]: incarnation },
        logPath: startLogOf(folders),
        cwd: spec.workspace,
      });
      const anchor = child.pid === undefined ? undefined : identify(child.pid);
      if (anchor === undefined) throw new Error('it ended at once');
      return { anchor, socketPath: socketPathOf(folders), groups: groups.outer, workspace: spec.workspace };
    } catch (error) {
      await removeGroups(groups.outer);
      throw error;
    }
  }

  async function end(handle: SandboxHandle): Promise<void> {
    // End the executor first, so that it starts nothing while its children are collected.
    await killAll(handle.anchor ? [handle.anchor] : []);
    await killPids(() => processesIn(handle.groups));
    await removeGroups(handle.groups);
  }

  return {
    name: 'none',
    limits,
    whenIdle: 'hibernate',
    probe: async () => ({
      available: true,
      strength: 'none',
      description: 'no isolation: on the host, as this user, nothing in workspaces is read-only',
      limits: [],
    }),
    start,
    isAlive: ({ anchor }) => anchor !== undefined && isAlive(anchor),
    end,
    async endIncarnations(incarnations) {
      const groups = groupsNamed(incarnations);
      await killPids(() => findIncarnations(incarnations, 'cmdline')); // the executors first
      await killPids(async () => [...(await findIncarnations(incarnations, 'environ', `${MARK}=`)), ...(await processesIn(groups))]);
      await removeGroups(groups);
    },
  };
}

function configOf({ incarnation, folders, workspace, noOutputTimeoutSeconds, leaseSeconds, ...spec }: SandboxSpec): string {
  const config: ExecutorConfig = {
    incarnation,
    endpoint: { socketPath: socketPathOf(folders) },
    folders: { stateDir: folders.state, workspace, workDir: workspace },
    shell: { program: '/bin/bash' },
    limits: { noOutputTimeoutSeconds, leaseSeconds, output: spec.output },
    plugins: spec.plugins,
    checkpoints: spec.checkpoints,
  };
  return JSON.stringify(config);
}

/** Without stand-ins for the groups: those would count this user's other processes too. */
function ownLimits(limits: Limits): readonly string[] {
  return findProgram('prlimit') === undefined ? [] : resourceLimits(limits, ['memory', 'pids', 'cpu']);
}

function hostEnvironment(): Record<string, string> {
  return Object.fromEntries(KEPT_VARIABLES.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])));
}
