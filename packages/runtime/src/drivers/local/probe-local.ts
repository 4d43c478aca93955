import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { createGroups, removeGroups, type Controller, type Limits } from '../../processes/control-group.ts';
import type { Probe } from '../driver.ts';
import { findProgram } from '../../processes/launch.ts';
import { bwrapVersion, knowBwrapVersion, type BwrapVersion } from '../bubblewrap/bwrap-version.ts';
import { holdFolder } from '../../workspace/held-folder.ts';
import type { TrialMemory } from './trial-memory.ts';
import { FIRST_SANDBOX_UID } from '../start/host-user.ts';
import { stagedEntry } from '../start/staged-entry.ts';

const TRIAL_DEADLINE_MS = 30_000;
/** Of the folder, in the process that mounts it. */
const TRIAL_FD = 3;

export interface ProbeOptions {
  readonly limits: Limits;
  readonly hasFilter: boolean;
  /** Whether anything in workspaces is protected. */
  readonly isProtecting: boolean;
  /** Called if the programs are installed. */
  readonly trial: () => Promise<Trial>;
}

/** Looks for what a start needs: the programs, the namespaces, the control groups. Reports what is missing and how to fix it. */
export async function probeLocal({ limits, hasFilter, isProtecting, trial }: ProbeOptions): Promise<Probe> {
  if (process.platform !== 'linux') {
    return no(
      'the local sandbox needs Linux',
      'Run the server in a Linux machine, or choose RUNTIME=none knowing that nothing is isolated.',
    );
  }
  const isRoot = process.getuid?.() === 0;
  const missing = ['bwrap', ...(isRoot ? ['perl', 'setpriv', 'unshare'] : [])].filter((name) => findProgram(name) === undefined);
  if (missing.length > 0) return no(`${missing.map(packageOf).join(' and ')} is not installed`, installLine(missing));
  // Run these in parallel, because a server waits for them: each starts a program, and none depends on the trial's group.
  const [{ version, failure, byNameBecause }, enforced] = await Promise.all([trial(), enforceable(limits)]);
  if (!version.isRecent)
    return no(`bubblewrap ${version.text} is too old`, 'Install bubblewrap 0.5 or newer; 0.8 is what this is tested with.');
  if (failure !== undefined) return no(`bubblewrap cannot make a sandbox here: ${failure}`, fixFor(failure));
  const size = enforced.includes('memory') ? `${Math.round(limits.memoryBytes / 1024 ** 2)} MiB` : 'memory limited per process only';
  const byName = isProtecting && byNameBecause !== undefined ? [`PROTECTED PATHS BY NAME (${byNameBecause})`] : [];
  const description = ['bubblewrap', 'own network', size, ...(hasFilter ? ['seccomp'] : []), ...byName].join(', ');
  return { available: true, strength: 'os-sandbox', description, limits: enforced };
}

function no(reason: string, fix: string): Probe {
  return { available: false, reason, fix };
}

export interface Trial {
  readonly version: BwrapVersion;
  /** Why no sandbox could be started. */
  readonly failure: string | undefined;
  /** Why an ordinary user cannot mount by descriptors; missing for root, who must, and where it works. */
  readonly byNameBecause?: string;
}

/** Makes a sandbox around `true`, unless an earlier process has. Rejects where bubblewrap cannot be run. */
export async function tryBubblewrap(memory: TrialMemory | undefined): Promise<Trial> {
  const known = await memory?.recall();
  if (known) {
    knowBwrapVersion(known);
    return { version: known, failure: undefined };
  }
  const [version, outcome] = await Promise.all([bwrapVersion(), process.getuid?.() === 0 ? asSandboxUser() : asOrdinaryUser()]);
  if (version.isRecent && outcome.failure === undefined && outcome.byNameBecause === undefined) await memory?.keep(version);
  return { version, ...outcome };
}

type Outcome = Omit<Trial, 'version'>;

async function asSandboxUser(): Promise<Outcome> {
  const uid = String(FIRST_SANDBOX_UID);
  return { failure: await failureOf(['setpriv', '--reuid', uid, '--regid', uid, '--clear-groups', '--', ...bwrapTrial()]) };
}

/** Both in one; where that fails, bubblewrap alone. */
async function asOrdinaryUser(): Promise<Outcome> {
  const staged = await stagedFailure();
  if (staged === undefined) return { failure: undefined };
  return { failure: await failureOf(bwrapTrial()), byNameBecause: staged };
}

/** Of a start in which a folder is mounted by its descriptor, and something in it onto itself. */
async function stagedFailure(): Promise<string | undefined> {
  if (findProgram('perl') === undefined) return 'perl is not installed';
  const folder = await mkdtemp(join(await realpath(tmpdir()), 'tendon-stage-'));
  const [source, target] = [join(folder, 'source'), join(folder, 'target')];
  for (const path of [target, join(source, 'protected')]) await mkdir(path, { recursive: true });
  const held = await holdFolder(source);
  try {
    const protects = [{ path: 'protected', isReadOnly: true }];
    const user = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0, namespace: 'user' } as const;
    const stage = stagedEntry([{ source, descriptor: TRIAL_FD, target, idMapped: false, protects }], user);
    return await failureOf([...stage, ...bwrapTrial()], [held.descriptor()]);
  } catch (error) {
    return (error as Error).message;
  } finally {
    held.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** The same namespaces as a real start, around `true`. */
function bwrapTrial(): readonly string[] {
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
  return [findProgram('bwrap') ?? 'bwrap', ...namespaces, '--ro-bind', '/', '/', '--proc', '/proc', '--dev', '/dev', 'true'];
}

/** The last line that a failing command has printed, or `undefined`. */
async function failureOf(command: readonly string[], descriptors: readonly number[] = []): Promise<string | undefined> {
  const [program = '', ...rest] = command;
  const child = spawn(program, rest, {
    stdio: ['ignore', 'ignore', 'pipe', ...descriptors],
    env: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' },
    cwd: '/',
    timeout: TRIAL_DEADLINE_MS,
    killSignal: 'SIGKILL',
  });
  const ended = new Promise<number | Error>((resolve) => child.once('error', resolve).once('close', (code) => resolve(code ?? -1)));
  const [errors, result] = await Promise.all([text(child.stderr!), ended]);
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
