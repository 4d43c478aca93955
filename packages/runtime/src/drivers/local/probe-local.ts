import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { createGroups, removeGroups, type Controller, type Limits } from '../../processes/control-group.ts';
import type { Probe } from '../driver.ts';
import { findProgram } from '../../processes/launch.ts';
import { bwrapVersion, knowBwrapVersion, type BwrapVersion } from '../bubblewrap/bwrap-version.ts';
import type { TrialMemory } from './trial-memory.ts';
import { FIRST_SANDBOX_UID } from '../start/host-user.ts';

const TRIAL_DEADLINE_MS = 30_000;

/** Tries what a start needs: the programs, the namespaces, the control groups. Says what is missing and how to mend it. */
export async function probeLocal(limits: Limits, hasFilter: boolean, memory?: TrialMemory): Promise<Probe> {
  if (process.platform !== 'linux') {
    return no(
      'the local sandbox needs Linux',
      'Run the server in a Linux machine, or choose RUNTIME=none knowing that nothing is isolated.',
    );
  }
  const isRoot = process.getuid?.() === 0;
  const missing = ['bwrap', ...(isRoot ? ['perl', 'setpriv', 'unshare'] : [])].filter((name) => findProgram(name) === undefined);
  if (missing.length > 0) return no(`${missing.map(packageOf).join(' and ')} is not installed`, installLine(missing));
  // At once, for a server waits for it: each costs the start of a program, and the group of the trial is no part of it.
  const [{ version, failure, isRemembered }, enforced] = await Promise.all([tried(memory), enforceable(limits)]);
  if (!version.isRecent)
    return no(`bubblewrap ${version.text} is too old`, 'Install bubblewrap 0.5 or newer; 0.8 is what this is tested with.');
  if (failure !== undefined) return no(`bubblewrap cannot make a sandbox here: ${failure}`, fixFor(failure));
  if (!isRemembered) await memory?.keep(version);
  const size = enforced.includes('memory') ? `${Math.round(limits.memoryBytes / 1024 ** 2)} MiB` : 'memory limited per process only';
  const description = ['bubblewrap', 'own network', size, ...(hasFilter ? ['seccomp'] : [])].join(', ');
  return { available: true, strength: 'os-sandbox', description, limits: enforced };
}

function no(reason: string, fix: string): Probe {
  return { available: false, reason, fix };
}

interface Tried {
  readonly version: BwrapVersion;
  /** Why no sandbox could be made. */
  readonly failure: string | undefined;
  readonly isRemembered: boolean;
}

async function tried(memory: TrialMemory | undefined): Promise<Tried> {
  const known = await memory?.recall();
  if (known) {
    knowBwrapVersion(known);
    return { version: known, failure: undefined, isRemembered: true };
  }
  const [version, failure] = await Promise.all([bwrapVersion(), trial()]);
  return { version, failure, isRemembered: false };
}

/** The same namespaces and the same kind of user as a real start, around `true`. The failure's last line, or `undefined`. */
async function trial(): Promise<string | undefined> {
  const namespaces = [
    '--unshare-user',
    '--uid',
    '1000',
    '--gid',
    '1000',
    '--unshare-pid',
    '--unshare-ipc',
    '--unshare-uts',
    '--unshare-net',
  ];
  const bwrap = [findProgram('bwrap') ?? 'bwrap', ...namespaces, '--ro-bind', '/', '/', '--proc', '/proc', '--dev', '/dev', 'true'];
  const uid = String(FIRST_SANDBOX_UID);
  const asUser = process.getuid?.() === 0 ? ['setpriv', '--reuid', uid, '--regid', uid, '--clear-groups', '--'] : [];
  const [program = '', ...rest] = [...asUser, ...bwrap];
  const child = spawn(program, rest, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' },
    cwd: '/',
    timeout: TRIAL_DEADLINE_MS,
    killSignal: 'SIGKILL',
  });
  const ended = new Promise<number | Error>((resolve) => child.once('error', resolve).once('close', (code) => resolve(code ?? -1)));
  const [errors, result] = await Promise.all([text(child.stderr), ended]);
  if (result === 0) return undefined;
  return errors.trim().split('\n').at(-1) || (result instanceof Error ? result.message : `it ended with ${result}`);
}

async function enforceable(limits: Limits): Promise<readonly Controller[]> {
  const folder = await mkdtemp(join(tmpdir(), 'tendon-probe-'));
  const groups = await createGroups(folder.slice(-12), limits);
  await Promise.all([removeGroups(groups.outer), rm(folder, { recursive: true })]);
  return groups.enforced;
}

function packageOf(program: string): string {
  return program === 'bwrap' ? 'bubblewrap' : program;
}

function installLine(missing: readonly string[]): string {
  const packages = missing.map((name) => (name === 'bwrap' ? 'bubblewrap' : name === 'perl' ? 'perl' : 'util-linux')).join(' ');
  return `Install it: apt install ${packages} (Debian, Ubuntu), dnf install ${packages} (Fedora), pacman -S ${packages} (Arch).`;
}

function fixFor(failure: string): string {
  if (/uid map|new namespace|user namespace|Operation not permitted|Permission denied/i.test(failure)) {
    return (
      'User namespaces are closed to this user. Ubuntu: sysctl kernel.apparmor_restrict_unprivileged_userns=0, or an AppArmor profile for bwrap. ' +
      'Debian before 11: sysctl kernel.unprivileged_userns_clone=1. In a container: start it with --security-opt seccomp=unconfined --security-opt apparmor=unconfined.'
    );
  }
  return 'Run the same command by hand to see more: bwrap --unshare-all --ro-bind / / true';
}
