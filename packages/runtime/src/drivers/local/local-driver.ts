import { chown, lstat, mkdir, realpath, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { existsSync } from 'node:fs';
import type { ExecutorConfig } from '../../executor-api.ts';
import { createGroups, DEFAULT_LIMITS, processesIn, removeGroups, type Limits } from '../control-group.ts';
import { proxySocketPathOf, socketPathOf, type Driver, type SandboxHandle, type SandboxSpec } from '../driver.ts';
import type { ExecutorFolder } from '../executor-folder.ts';
import { findProgram } from '../find-program.ts';
import { firstStatus, launch, STATUS_FD } from '../launch.ts';
import { findProcesses, identify, isAlive } from '../process-identity.ts';
import { killAll } from '../kill-all.ts';
import { bwrapArguments, insideEnvironment } from './bwrap-arguments.ts';
import { INSIDE_HOME, writeEtcFiles } from './etc-files.ts';
import { hostUser, type HostUser } from './host-user.ts';
import { stage } from './stage.ts';
import { isWithin, masks, systemBinds, type Bind } from './visible.ts';

export interface LocalDriverOptions {
  readonly executor: ExecutorFolder;
  readonly limits?: Limits;
  /** Host folders that no sandbox may see even when they lie below something it sees: the server's home with its database. */
  readonly hidden?: readonly string[];
  /** Below a hidden folder, yet allowed as workspaces. */
  readonly workspacesFolder?: string;
}

const INSIDE = {
  workspace: '/workspace',
  state: '/var/lib/tendon',
  link: '/run/tendon/link',
  proxy: '/run/tendon/proxy',
  executor: '/opt/tendon/executor',
  node: '/opt/tendon/bin/node',
} as const;

/** bubblewrap around one long-lived executor. Owns the processes, groups and mounts of its sandboxes; not their folders on disk. */
export function createLocalDriver(options: LocalDriverOptions): Driver {
  const limits = options.limits ?? DEFAULT_LIMITS;

  async function start(spec: SandboxSpec, { signal }: { readonly signal: AbortSignal }): Promise<SandboxHandle> {
    refuseHidden(spec.workspace, options);
    const user = await userOf(spec);
    await makeFolders(spec, user);
    const binds = await visibleBinds(spec, options.executor, user);
    const groups = await createGroups(spec.incarnation, limits);
    try {
      const staged = await stage(binds, user, spec.folders.stage);
      const hidden = (options.hidden ?? []).filter((path) => existsSync(path));
      const environment = insideEnvironment();
      const bwrap = bwrapArguments({
        user,
        binds: staged.binds,
        masks: masks(hidden, binds),
        tmpBytes: Math.floor(limits.memoryBytes / 2),
        environment,
        statusFd: STATUS_FD,
      });
      const logPath = join(spec.folders.host, 'start.log');
      const child = launch({
        command: [
          ...staged.prefix,
          findProgram('bwrap') ?? 'bwrap',
          ...bwrap,
          '--',
          INSIDE.node,
          join(INSIDE.executor, options.executor.entry),
          ...configArguments(spec),
        ],
        groups: groups.inner,
        environment: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' },
        logPath,
        files: [],
        cwd: '/',
      });
      const status = await firstStatus(child, logPath, signal);
      const anchor = identify(Number(status['child-pid']));
      if (anchor === undefined) throw new Error('it ended at once');
      return { anchor, socketPath: socketPathOf(spec.folders), groups: groups.outer };
    } catch (error) {
      await endByIncarnation(spec.incarnation);
      await removeGroups(groups.outer);
      throw error;
    }
  }

  async function end(handle: SandboxHandle): Promise<void> {
    const inGroups = await processesIn(handle.groups);
    await killAll([handle.anchor, ...inGroups.map((pid) => identify(pid)).filter((found) => found !== undefined)]);
    await removeGroups(handle.groups);
  }

  async function endByIncarnation(incarnation: string): Promise<void> {
    const found = findProcesses(incarnation, 'cmdline').map((pid) => identify(pid));
    await killAll(found.filter((identity) => identity !== undefined));
  }

  return {
    name: 'local',
    probe: async () => ({ available: true, strength: 'os-sandbox', description: 'bubblewrap, own network', limits: [] }),
    start,
    isAlive: (handle) => isAlive(handle.anchor),
    end,
    endByIncarnation,
  };
}

function configArguments(spec: SandboxSpec): readonly string[] {
  const config: ExecutorConfig = {
    incarnation: spec.incarnation,
    socketPath: `${INSIDE.link}/${basename(socketPathOf(spec.folders))}`,
    stateDir: INSIDE.state,
    workspace: INSIDE.workspace,
    workDir: INSIDE.workspace,
    proxySocketPath: `${INSIDE.proxy}/${basename(proxySocketPathOf(spec.folders))}`,
    shell: '/bin/bash',
    noOutputTimeoutSeconds: spec.noOutputTimeoutSeconds,
    leaseSeconds: spec.leaseSeconds,
  };
  return ['--config', JSON.stringify(config)];
}

function refuseHidden(workspace: string, { hidden = [], workspacesFolder }: LocalDriverOptions): void {
  if (workspacesFolder !== undefined && workspace !== workspacesFolder && isWithin(workspace, workspacesFolder)) return;
  const inside = hidden.find((folder) => isWithin(workspace, folder));
  if (inside !== undefined) throw new Error(`the folder ${workspace} belongs to the server itself and cannot be a workspace`);
}

async function userOf(spec: SandboxSpec): Promise<HostUser> {
  const owner = await stat(spec.workspace);
  return hostUser({ uid: process.getuid?.() ?? 1000, gid: process.getgid?.() ?? 1000 }, owner, basename(spec.folders.home));
}

async function makeFolders({ folders }: SandboxSpec, user: HostUser): Promise<void> {
  const home = await lstat(folders.home).catch(() => undefined);
  if (home !== undefined && user.staged && home.uid !== user.uid) await rm(folders.home, { recursive: true, force: true });
  for (const path of [folders.host, folders.proxy, folders.stage]) await mkdir(path, { recursive: true, mode: 0o755 });
  for (const path of [folders.home, folders.state, folders.link]) {
    await mkdir(path, { recursive: true, mode: 0o700 });
    if (user.staged) await chown(path, user.uid, user.gid);
  }
}

async function visibleBinds({ workspace, folders }: SandboxSpec, executor: ExecutorFolder, user: HostUser): Promise<readonly Bind[]> {
  return [
    ...systemBinds(),
    ...(await writeEtcFiles(join(folders.host, 'etc'), user)),
    { source: executor.folder, target: INSIDE.executor, isPrivate: true },
    { source: await realpath(executor.node), target: INSIDE.node, isPrivate: true },
    { source: folders.proxy, target: INSIDE.proxy, isPrivate: true },
    { source: workspace, target: INSIDE.workspace, writable: true, isPrivate: true, idMapped: user.idMapped },
    { source: folders.home, target: INSIDE_HOME, writable: true, isPrivate: true },
    { source: folders.state, target: INSIDE.state, writable: true, isPrivate: true },
    { source: folders.link, target: INSIDE.link, writable: true, isPrivate: true },
  ];
}
