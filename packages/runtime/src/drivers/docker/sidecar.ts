import { spawn, type ChildProcess } from 'node:child_process';
import { chown, mkdir, open, realpath, stat, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { BrowserRequest, HostConfig } from '@tendon/protocol/executor-api';
import { createGroups, type Limits } from '../../processes/control-group.ts';
import type { SandboxHandle, SandboxPlace } from '../driver.ts';
import { findProgram, ENTER_GROUPS } from '../../processes/launch.ts';
import type { HostUser } from '../start/host-user.ts';
import { INSIDE } from '../start/inside.ts';
import { bwrapArguments, insideEnvironment, INSIDE_HOME, writeEtcFiles } from '../bubblewrap/bwrap-arguments.ts';
import { bwrapVersion } from '../bubblewrap/bwrap-version.ts';
import { stage } from '../bubblewrap/stage.ts';
import { masks, pins, systemBinds, type Bind } from '../bubblewrap/visible.ts';
import { heldOf, writeFilter } from '../start/prepare-folders.ts';
import type { ProtectedPath } from '../../workspace/protected/protect.ts';
import { isAlive } from '../../processes/process-identity.ts';
import { resourceLimits } from '../start/resource-limits.ts';
import { INJECTED } from '../start/injected-places.ts';

export interface SidecarOptions {
  readonly user: HostUser;
  readonly limits: Limits;
  /** Folders that no sandbox may see. */
  readonly hidden: readonly string[];
  /** In the workspace, as in the container. */
  readonly protects: readonly ProtectedPath[];
}

const NETWORK_FD = 3;
const FILTER_FD = 4;
/** The descriptor is only used to enter the namespace: programs inside do not have it. */
const WITHOUT_NETWORK_FD = ['/bin/sh', '-c', `exec ${NETWORK_FD}<&-; exec "$@"`, 'tendon'];

/**
 * The program of the browser in a sandbox as those of the driver `local`, but in the network of the container: what listens on
 * loopback there is on its loopback, and it reaches the same proxy. It sees the host's programs, the workspace and nothing of the
 * container, and dies with this server.
 */
export async function startSidecar(
  { anchor }: SandboxHandle,
  place: SandboxPlace,
  request: BrowserRequest,
  options: SidecarOptions,
): Promise<ChildProcess> {
  const bwrap = findProgram('bwrap');
  if (process.getuid?.() !== 0) throw new Error(unavailable('only a server that runs as root may join its network'));
  if (bwrap === undefined) throw new Error(unavailable('bubblewrap is not installed on the host'));
  if (anchor === undefined) throw new Error('the container has ended');
  const { enforced, inner } = await createGroups(place.incarnation, options.limits);
  const prepared = await prepare(place, options);
  const files: FileHandle[] = [];
  try {
    // Held before the process is checked, because a held descriptor cannot become another process's.
    files.push(await networkOf(anchor.pid));
    if (!isAlive(anchor)) throw new Error('the container has ended');
    for (const path of prepared.filter) files.push(await open(path));
    const sandbox = bwrapArguments({
      user: options.user,
      binds: prepared.binds,
      masks: prepared.masks,
      ...((await bwrapVersion()).hasSizes && { tmpBytes: options.limits.tmpBytes }),
      environment: insideEnvironment({ DBUS_SESSION_BUS_ADDRESS: 'disabled:' }),
      ...(prepared.filter.length > 0 && { seccompFd: FILTER_FD }),
      isSidecar: true,
    });
    const enter = ['nsenter', `--net=/proc/self/fd/${NETWORK_FD}`, '--', ...WITHOUT_NETWORK_FD, ...prepared.prefix];
    const inside = [
      ...resourceLimits(options.limits, enforced),
      INSIDE.node,
      join(INSIDE.executor, 'browser.mjs'),
      configOf(place, request),
    ];
    return spawn('/bin/sh', ['-c', ENTER_GROUPS, 'tendon', ...inner, '--', ...enter, bwrap, ...sandbox, '--', ...inside], {
      cwd: '/',
      env: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' },
      stdio: ['pipe', 'pipe', 'pipe', ...files.map(({ fd }) => fd), heldOf(place).descriptor()],
    });
  } finally {
    await Promise.all(files.map((file) => file.close()));
  }
}

function unavailable(why: string): string {
  return `the image has no Chromium, and one beside the container cannot be started: ${why}. Use an image with a Chromium.`;
}

function configOf({ incarnation }: SandboxPlace, request: BrowserRequest): string {
  const profile = join(INSIDE_HOME, '.cache/tendon/browser', incarnation);
  const config: HostConfig = { ...request, workspace: INSIDE.workspace, profile, isSidecar: true };
  return JSON.stringify(config);
}

/** Never the host's own. */
async function networkOf(pid: number): Promise<FileHandle> {
  const network = await open(`/proc/${pid}/ns/net`);
  const [theirs, own] = await Promise.all([network.stat(), stat('/proc/self/ns/net')]);
  if (theirs.ino !== own.ino) return network;
  await network.close();
  throw new Error(unavailable('its network is the host’s'));
}

interface Prepared {
  readonly binds: readonly Bind[];
  readonly masks: readonly string[];
  readonly prefix: readonly string[];
  readonly filter: readonly string[];
}

/** The executor's files are those that the container has been given, so that a newer installation does not mix with them. */
async function prepare({ workspace, folders, isReadOnly }: SandboxPlace, { user, hidden, protects }: SidecarOptions): Promise<Prepared> {
  const own = join(folders.host, 'beside');
  const home = join(own, 'home');
  const mountPoints = join(folders.stage, 'beside');
  for (const path of [home, mountPoints]) await mkdir(path, { recursive: true, mode: 0o755 });
  if (user.staged) await chown(home, user.uid, user.gid);
  const injected = (path: string): Promise<string> => realpath(join(folders.host, 'carried', path.slice(INJECTED.root.length + 1)));
  const filter = await writeFilter(own);
  const descriptor = FILTER_FD + filter.length;
  const binds: readonly Bind[] = [
    ...systemBinds(),
    ...(await writeEtcFiles(join(own, 'etc'), user)),
    { source: await injected(INJECTED.executor), target: INSIDE.executor, isPrivate: true },
    { source: await injected(INJECTED.node), target: INSIDE.node, isPrivate: true },
    { source: workspace, descriptor, protects, target: INSIDE.workspace, writable: !isReadOnly, isPrivate: true, idMapped: user.idMapped },
    { source: home, target: INSIDE_HOME, writable: true, isPrivate: true },
  ];
  const staged = await stage(binds, user, mountPoints);
  const masked = masks(hidden, binds);
  return { prefix: staged.prefix, binds: [...staged.binds, ...pins(masked, staged.binds)], masks: masked, filter };
}
