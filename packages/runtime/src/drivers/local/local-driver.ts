import { mkdir, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import {
  createGroups,
  groupsNamed,
  limitsOf,
  processesIn,
  removeGroups,
  type ControlGroups,
  type Limits,
  killAll,
  killPids,
} from '../../processes/control-group.ts';
import { socketPathOf, startLogOf, type SandboxDriver, type Probe, type SandboxHandle, type SandboxSpec } from '../driver.ts';
import { type ExecutorFolder, keepExecutor } from '../start/executor-folder.ts';
import { findProgram, FIRST_FILE_FD, firstStatus, launch, STATUS_FD, logTail } from '../../processes/launch.ts';
import { findIncarnations, identify, isAlive } from '../../processes/process-identity.ts';
import { resourceLimits, sharesOfItsUser } from '../start/resource-limits.ts';
import { bwrapArguments, insideEnvironment, INSIDE_HOME, writeEtcFiles } from '../bubblewrap/bwrap-arguments.ts';
import { bwrapVersion } from '../bubblewrap/bwrap-version.ts';
import type { HostUser } from '../start/host-user.ts';
import { executorCommand, INSIDE } from '../start/inside.ts';
import {
  hasFilter,
  heldOf,
  ownFolders,
  prepareFolders,
  protectWorkspace,
  refuseHidden,
  sandboxUser,
  writeFilter,
  type OwnFolders,
} from '../start/prepare-folders.ts';
import type { Protection } from '../../workspace/protected/protect.ts';
import { probeLocal, tryBubblewrap, type Trial } from './probe-local.ts';
import { stage } from '../bubblewrap/stage.ts';
import { TrialMemory } from './trial-memory.ts';
import { bindsOnto, masks, pins, systemBinds, type Bind } from '../bubblewrap/visible.ts';

export interface LocalDriverOptions extends Partial<OwnFolders> {
  readonly executor: ExecutorFolder;
  /** Missing options have their defaults. */
  readonly limits?: Partial<Limits>;
  /** Where a successful trial of bubblewrap is remembered; without, each process tries it. */
  readonly trialFile?: string;
}

interface Surroundings {
  readonly user: HostUser;
  readonly groups: ControlGroups;
  readonly hidden: readonly string[];
  readonly isFiltered: boolean;
  readonly mounts: Protection['mounts'];
  /** The workspace and what is protected in it are mounted before bubblewrap, which has nothing to do with paths in it then. */
  readonly byDescriptor: boolean;
}

/** Of the process outside; what runs inside sees no more than bubblewrap's arguments give it. */
const OUTER_ENVIRONMENT = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' };

/** bubblewrap around one long-lived executor. Owns the processes, groups and mounts of its sandboxes; not their folders on disk. */
export function createLocalDriver(options: LocalDriverOptions): SandboxDriver {
  const limits = limitsOf(options.limits ?? {});
  const bwrapPath = findProgram('bwrap');
  const memory = options.trialFile && bwrapPath ? new TrialMemory(options.trialFile, bwrapPath) : undefined;
  const protects = options.protects ?? [];
  let probed: Promise<Probe> | undefined;
  let tried: Promise<Trial> | undefined;
  const trial = (): Promise<Trial> => {
    tried ??= tryBubblewrap(memory);
    tried.catch(() => (tried = undefined));
    return tried;
  };

  async function start(spec: SandboxSpec, { signal }: { readonly signal: AbortSignal }): Promise<SandboxHandle> {
    const own = await ownFolders(options, spec.folders);
    const workspace = heldOf(spec);
    refuseHidden(workspace, own);
    const user = sandboxUser(spec);
    await prepareFolders(spec, user);
    const protection = await protectWorkspace(spec, own, protects);
    const groups = await createGroups(spec.incarnation, limits);
    try {
      const logPath = startLogOf(spec.folders);
      const statusPath = join(spec.folders.host, 'status.json');
      const files = await writeFilter(spec.folders.host);
      const { mounts } = protection;
      const byDescriptor = user.staged || (mounts.length > 0 && (await trial()).byNameBecause === undefined);
      const surroundings = { user, groups, hidden: own.hidden, isFiltered: files.length > 0, mounts, byDescriptor };
      const command = await commandOf({ executor: options.executor, limits }, spec, surroundings);
      signal.throwIfAborted();
      // Only passed to a process that uses and closes it: with a descriptor a process can leave the sandbox.
      const descriptors = byDescriptor ? [workspace.descriptor()] : [];
      const how = { groups: groups.inner, environment: OUTER_ENVIRONMENT, logPath, statusPath, files, descriptors, cwd: '/' };
      const child = launch({ command, ...how });
      const status = await firstStatus(child, { statusPath, logPath, signal });
      const anchor = identify(Number(status['child-pid']));
      if (anchor === undefined) throw new Error((await logTail(logPath)) || 'it ended at once');
      const place = { socketPath: socketPathOf(spec.folders), kernelPackages: kernelPackagesOf(spec) };
      return { anchor, ...place, groups: groups.outer, protection };
    } catch (error) {
      await memory?.forget();
      await endIncarnations([spec.incarnation]);
      throw error;
    }
  }

  return {
    name: 'local',
    limits,
    whenIdle: 'hibernate',
    mountsReadOnly: true,
    async probe() {
      probed ??= probeLocal({ limits, hasFilter: hasFilter(), isProtecting: protects.length > 0, trial });
      const probe = await probed;
      if (!probe.available) probed = tried = undefined; // it may be installed any moment
      return probe;
    },
    start,
    isAlive: ({ anchor }) => anchor !== undefined && isAlive(anchor),
    end,
    endIncarnations,
  };
}

/** The anchor is the first process of the namespace: the kernel ends all others with it. */
async function end(handle: SandboxHandle): Promise<void> {
  await killAll(handle.anchor ? [handle.anchor] : []);
  await killPids(() => processesIn(handle.groups));
  await removeGroups(handle.groups);
}

async function endIncarnations(incarnations: readonly string[]): Promise<void> {
  const groups = groupsNamed(incarnations);
  await killPids(async () => [...(await findIncarnations(incarnations, 'cmdline')), ...(await processesIn(groups))]);
  await removeGroups(groups);
}

async function commandOf(
  { executor, limits }: { readonly executor: ExecutorFolder; readonly limits: Limits },
  spec: SandboxSpec,
  { user, groups, hidden, isFiltered, mounts, byDescriptor }: Surroundings,
): Promise<readonly string[]> {
  const workspace = byDescriptor ? { descriptor: FIRST_FILE_FD + (isFiltered ? 1 : 0), protects: mounts } : {};
  const binds = await visibleBinds(spec, executor, user, workspace);
  const staged = await stage(binds, user, spec.folders.stage);
  const masked = masks(hidden, binds);
  const bwrap = bwrapArguments({
    user,
    binds: [...staged.binds, ...pins(masked, staged.binds)],
    // A weaker check: the executor compares device and inode.
    protects: byDescriptor ? [] : bindsOnto(spec.workspace, INSIDE.workspace, mounts),
    masks: masked,
    ...((await bwrapVersion()).hasSizes && { tmpBytes: limits.tmpBytes }),
    environment: insideEnvironment(),
    ...(isFiltered && { seccompFd: FIRST_FILE_FD }),
    statusFd: STATUS_FD,
  });
  const inside = [...resourceLimits(limits, groups.enforced, sharesOfItsUser()), ...executorCommand(spec, executor.entry, mounts)];
  return [...staged.prefix, findProgram('bwrap') ?? 'bwrap', ...bwrap, '--', ...inside];
}

async function visibleBinds(
  { workspace, folders, isReadOnly }: SandboxSpec,
  executor: ExecutorFolder,
  user: HostUser,
  ofWorkspace: Pick<Bind, 'descriptor' | 'protects'>,
): Promise<readonly Bind[]> {
  const node = await realpath(executor.node);
  const packages = kernelPackagesOf({ folders });
  await mkdir(packages, { recursive: true, mode: 0o755 });
  const own = await keepExecutor(executor.folder, join(folders.host, 'executor'));
  return [
    ...systemBinds(),
    ...(await writeEtcFiles(join(folders.host, 'etc'), user)),
    { source: own, target: INSIDE.executor, isPrivate: true, idMapped: user.staged && (await isForRootOnly(executor.folder)) },
    { source: node, target: INSIDE.node, isPrivate: true, idMapped: user.staged && (await isForRootOnly(node)) },
    { source: folders.proxy, target: INSIDE.proxy, isPrivate: true },
    { source: packages, target: INSIDE.kernelPackages, isPrivate: true },
    { source: workspace, ...ofWorkspace, target: INSIDE.workspace, writable: !isReadOnly, isPrivate: true, idMapped: user.idMapped },
    { source: folders.home, target: INSIDE_HOME, writable: true, isPrivate: true },
    { source: folders.state, target: INSIDE.state, writable: true, isPrivate: true },
    { source: folders.link, target: INSIDE.link, writable: true, isPrivate: true },
  ];
}

/** All local sandboxes see the same Pythons: the host's. */
function kernelPackagesOf({ folders }: Pick<SandboxSpec, 'folders'>): string {
  return join(folders.kernels, 'local');
}

/** An installation with a strict umask: the sandbox's uid could not read it as it is. */
async function isForRootOnly(path: string): Promise<boolean> {
  const { uid, mode } = await stat(path);
  return uid === 0 && (mode & 0o005) !== 0o005;
}
