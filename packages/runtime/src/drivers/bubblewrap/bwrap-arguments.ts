import { existsSync, lstatSync, readlinkSync } from 'node:fs';
import type { HostUser } from '../start/host-user.ts';
import { INSIDE } from '../start/inside.ts';
import { ROOT_FOLDERS, type Bind } from './visible.ts';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface BwrapPlan {
  readonly user: HostUser;
  readonly binds: readonly Bind[];
  /** Read-only or unmovable parts of the writable folders; the outer ones first. */
  readonly protects?: readonly Bind[];
  /** Paths that an empty folder covers. */
  readonly masks: readonly string[];
  /** Missing if bubblewrap cannot give them a size. */
  readonly tmpBytes?: number;
  readonly environment: Readonly<Record<string, string>>;
  /** Open file descriptors of the process that becomes bubblewrap; missing where there is no filter for the processor. */
  readonly seccompFd?: number;
  readonly statusFd?: number;
  /** Beside a container: the network that it was started in stays, and it dies with the process that started it. */
  readonly isSidecar?: boolean;
}

/** Everything before `--`. Order matters: later mounts lie over earlier ones. */
export function bwrapArguments(plan: BwrapPlan): readonly string[] {
  const { user, binds, masks, environment } = plan;
  const size = plan.tmpBytes === undefined ? [] : ['--size', String(plan.tmpBytes)];
  const tmpfs = (path: string): readonly string[] => ['--perms', '1777', ...size, '--tmpfs', path];
  const groups: readonly (readonly string[])[] = [
    ['--unshare-user', '--uid', String(user.insideUid), '--gid', String(user.insideGid)],
    ['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try', plan.isSidecar ? '--die-with-parent' : '--unshare-net'],
    ['--hostname', INSIDE_HOSTNAME, '--new-session', '--cap-drop', 'ALL'],
    rootFolders(),
    binds.filter((bind) => !bind.writable).flatMap((bind) => ['--ro-bind', bind.source, bind.target]),
    ['--proc', '/proc', '--dev', '/dev'],
    ['/tmp', '/var/tmp', '/dev/shm'].flatMap(tmpfs),
    binds.filter((bind) => bind.writable).flatMap((bind) => ['--bind', bind.source, bind.target]),
    (plan.protects ?? []).flatMap(({ writable, source, target }) => [writable ? '--bind' : '--ro-bind', source, target]),
    pythonName(),
    ['--dir', INSIDE.terminals],
    masks.flatMap((path) => ['--perms', '0555', '--tmpfs', path, '--remount-ro', path]),
    ['--remount-ro', '/', '--chdir', '/workspace', '--clearenv'],
    Object.entries(environment).flatMap(([name, value]) => ['--setenv', name, value]),
    plan.seccompFd === undefined ? [] : ['--seccomp', String(plan.seccompFd)],
    plan.statusFd === undefined ? [] : ['--json-status-fd', String(plan.statusFd)],
  ];
  return groups.flat();
}

/** `/bin` and similar paths: the same link on merged systems, the folder on others. */
function rootFolders(): readonly string[] {
  return ROOT_FOLDERS.flatMap((path) => {
    const entry = lstatSync(path, { throwIfNoEntry: false });
    if (entry === undefined) return [];
    return entry.isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : ['--ro-bind', path, path];
  });
}

/** Models say `python`; where the system has it only as `python3`, the last folder of PATH knows the short name too. */
function pythonName(): readonly string[] {
  const isShort = existsSync('/usr/bin/python') || existsSync('/usr/local/bin/python');
  return !isShort && existsSync('/usr/bin/python3') ? ['--symlink', '/usr/bin/python3', '/opt/tendon/bin/python'] : [];
}

/** Nothing of the host's environment: it holds the server's keys. */
export function insideEnvironment(extra: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  return {
    PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/tendon/bin',
    HOME: INSIDE_HOME,
    USER: INSIDE_USER,
    LOGNAME: INSIDE_USER,
    SHELL: '/bin/bash',
    LANG: 'C.UTF-8',
    TERM: 'xterm-256color',
    TMPDIR: '/tmp',
    ...extra,
  };
}

const INSIDE_USER = 'tendon';
export const INSIDE_HOME = `/home/${INSIDE_USER}`;
const INSIDE_HOSTNAME = 'tendon';

/** The inside's own /etc: it knows one user and no network but its own loopback. Returns the binds of what was written. */
export async function writeEtcFiles(folder: string, user: HostUser): Promise<readonly Bind[]> {
  const files = etcFiles(user);
  await mkdir(folder, { recursive: true, mode: 0o755 });
  await Promise.all(Object.entries(files).map(([name, text]) => writeFile(join(folder, name), text, { mode: 0o644 })));
  return Object.keys(files).map((name) => ({ source: join(folder, name), target: `/etc/${name}`, isPrivate: true }));
}

function etcFiles({ insideUid, insideGid }: HostUser): Readonly<Record<string, string>> {
  const own = `${INSIDE_USER}:x:${insideUid}:${insideGid}:Tendon sandbox:${INSIDE_HOME}:/bin/bash`;
  return {
    passwd: lines('root:x:0:0:root:/root:/usr/sbin/nologin', own, 'nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin'),
    group: lines('root:x:0:', 'tty:x:5:', `${INSIDE_USER}:x:${insideGid}:`, 'nogroup:x:65534:'),
    hosts: lines('127.0.0.1 localhost', '::1 localhost', `127.0.1.1 ${INSIDE_HOSTNAME}`),
    hostname: lines(INSIDE_HOSTNAME),
    'resolv.conf': lines('# Names are resolved by the proxy outside; see HTTPS_PROXY.'),
  };
}

function lines(...all: readonly string[]): string {
  return `${all.join('\n')}\n`;
}
