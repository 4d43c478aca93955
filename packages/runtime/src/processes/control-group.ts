import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { existsSync, readFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { identify, isAlive, signalProcess, type ProcessIdentity } from './process-identity.ts';

export interface Limits {
  readonly memoryBytes: number;
  /** Processes and threads. */
  readonly processes: number;
  /** Processor time, in processors; may be a fraction. */
  readonly cpus: number;
  /** Of one file. */
  readonly fileBytes: number;
  /** Descriptors of one process. */
  readonly openFiles: number;
  /** Of each temporary folder; infinite where those are the host's. */
  readonly tmpBytes: number;
  /** What it may add to the disk: workspace, home and a container's root together. Infinite: as much as there is. */
  readonly diskBytes: number;
}

/** Four gigabytes, on small machines three quarters of what there is. */
const MEMORY_BYTES = Math.min(4 * 1024 ** 3, Math.floor(totalmem() * 0.75));

/** @internal */
export const DEFAULT_LIMITS: Limits = limitsOf({});

/** The given limits; the others are the usual ones. The three temporary folders together stay below the memory that they count as. */
export function limitsOf(given: Partial<Limits>): Limits {
  const { memoryBytes = MEMORY_BYTES, processes = 1024, cpus = 4, fileBytes = 8 * 1024 ** 3, openFiles = 16_384 } = given;
  const { tmpBytes = Math.floor(memoryBytes / 4), diskBytes = 10 * 1024 ** 3 } = given;
  return { memoryBytes, processes, cpus, fileBytes, openFiles, tmpBytes, diskBytes };
}

export type Controller = 'memory' | 'pids' | 'cpu';
const CONTROLLERS: readonly Controller[] = ['memory', 'pids', 'cpu'];
/** Limits nothing: version 1 counts processor time in it, which in version 2 every group does. */
const ACCOUNTING = 'cpuacct';

/** One hierarchy in which groups can be made below this process's own group. */
export interface Hierarchy {
  readonly version: 1 | 2;
  /** This process's own group; never the root of the hierarchy unless the process is there. */
  readonly ownGroup: string;
  readonly controllers: readonly (Controller | typeof ACCOUNTING)[];
}

/** The groups of one sandbox. Limits stand on the outer group: the inner one is all that a cgroup namespace shows the inside. */
export interface ControlGroups {
  readonly outer: readonly string[];
  readonly inner: readonly string[];
  readonly enforced: readonly Controller[];
}

/** Version 1, version 2 and the mixture of both. `mountinfo` and `cgroup` are the files of that name in /proc/self. */
export function findHierarchies(mountinfo: string, cgroup: string): readonly Hierarchy[] {
  const own = cgroup
    .split('\n')
    .filter(Boolean)
    .map((line) => /^\d+:([^:]*):(.*)$/.exec(line))
    .filter((match) => match !== null);
  return mountinfo.split('\n').flatMap((line): Hierarchy[] => {
    const [left, right] = line.split(' - ');
    const [root, mountPoint] = (left ?? '').split(' ').slice(3, 5);
    const [type, , options] = (right ?? '').split(' ');
    if (root === undefined || mountPoint === undefined || (type !== 'cgroup' && type !== 'cgroup2')) return [];
    const names = type === 'cgroup2' ? [] : (options ?? '').split(',');
    const mine = own.find(([, list]) => (type === 'cgroup2' ? list === '' : list?.split(',').some((name) => names.includes(name))));
    const path = mine?.[2];
    if (path === undefined) return [];
    // In a container the path may be the host's while the mount already starts at our group.
    const below = path === root ? '' : path.startsWith(`${root}/`) ? path.slice(root.length) : root === '/' ? path : '';
    const controllers = type === 'cgroup2' ? CONTROLLERS : ([...CONTROLLERS, ACCOUNTING] as const).filter((name) => names.includes(name));
    return controllers.length === 0 ? [] : [{ version: type === 'cgroup2' ? 2 : 1, ownGroup: join(mountPoint, below), controllers }];
  });
}

function hierarchiesOfThisProcess(): readonly Hierarchy[] {
  if (process.platform !== 'linux') return [];
  return findHierarchies(readFileSync('/proc/self/mountinfo', 'utf8'), readFileSync('/proc/self/cgroup', 'utf8'));
}

/** Makes the groups, as far as this machine lets us; what could not be limited is missing in `enforced`. */
export async function createGroups(name: string, limits: Limits, hierarchies = hierarchiesOfThisProcess()): Promise<ControlGroups> {
  const made = await Promise.all(hierarchies.map((hierarchy) => createGroup(hierarchy, name, limits)));
  const groups = made.filter((group) => group !== undefined);
  return {
    outer: groups.map((group) => group.outer),
    inner: groups.map((group) => join(group.outer, 'inside')),
    enforced: groups.flatMap((group) => group.enforced),
  };
}

/** The outer groups that starts with these names have made, as far as they exist. */
export function groupsNamed(names: readonly string[], hierarchies = hierarchiesOfThisProcess()): readonly string[] {
  return hierarchies.flatMap(({ ownGroup }) => names.map((name) => join(ownGroup, 'tendon', name))).filter((path) => existsSync(path));
}

async function createGroup(hierarchy: Hierarchy, name: string, limits: Limits) {
  const parent = join(hierarchy.ownGroup, 'tendon');
  const outer = join(parent, name);
  try {
    await makeBelow(parent, outer, async () => {
      if (hierarchy.version === 2) await enableControllers([hierarchy.ownGroup, parent], hierarchy.controllers);
    });
    const enforced: Controller[] = [];
    for (const controller of hierarchy.controllers)
      if (controller !== ACCOUNTING && (await setLimit(outer, hierarchy.version, controller, limits))) enforced.push(controller);
    if (enforced.length > 0 || hierarchy.controllers.includes(ACCOUNTING)) {
      await makeFolder(join(outer, 'inside'));
      return { outer, enforced };
    }
  } catch {
    // Not ours to write: another hierarchy, or the rlimits, must do.
  }
  await removeGroups([outer]);
  return undefined;
}

/** Not `recursive`: on a kernel filesystem that refuses, Node then asks again for ever. */
async function makeFolder(path: string): Promise<void> {
  await mkdir(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
}

const MAKE_ATTEMPTS = 100;

/** The end of the last sandbox below the parent removes that too, perhaps between the two steps: then both are made again. */
async function makeBelow(parent: string, path: string, prepareParent: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    await makeFolder(parent);
    await prepareParent();
    try {
      return await makeFolder(path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || attempt === MAKE_ATTEMPTS) throw error;
    }
  }
}

/** Fails where the group holds processes of its own (version 2 allows either processes or controlled children). */
async function enableControllers(groups: readonly string[], controllers: readonly string[]): Promise<void> {
  for (const group of groups) {
    for (const controller of controllers) await writeFile(join(group, 'cgroup.subtree_control'), `+${controller}`).catch(() => {});
  }
}

const PERIOD_US = 100_000;

function settings(version: 1 | 2, controller: Controller, limits: Limits): Readonly<Record<string, string>> {
  const quota = String(Math.round(limits.cpus * PERIOD_US));
  if (controller === 'pids') return { 'pids.max': String(limits.processes) };
  if (controller === 'cpu') {
    return version === 2 ? { 'cpu.max': `${quota} ${PERIOD_US}` } : { 'cpu.cfs_period_us': String(PERIOD_US), 'cpu.cfs_quota_us': quota };
  }
  const bytes = String(limits.memoryBytes);
  return version === 2
    ? { 'memory.max': bytes, 'memory.swap.max': '0' }
    : { 'memory.limit_in_bytes': bytes, 'memory.memsw.limit_in_bytes': bytes };
}

async function setLimit(group: string, version: 1 | 2, controller: Controller, limits: Limits): Promise<boolean> {
  const files = Object.entries(settings(version, controller, limits)).filter(([file]) => existsSync(join(group, file)));
  try {
    for (const [file, value] of files) await writeFile(join(group, file), value);
    return files.length > 0;
  } catch {
    return false;
  }
}

/** Pids in the groups and their inner groups. */
export async function processesIn(outer: readonly string[]): Promise<readonly number[]> {
  const files = outer.flatMap((group) => [join(group, 'cgroup.procs'), join(group, 'inside', 'cgroup.procs')]);
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8').catch(() => '')));
  return [...new Set(texts.join('\n').split('\n').filter(Boolean).map(Number))].filter((pid) => pid > 0);
}

/** How often processes were ended because the memory was used up, and refused because there were too many. */
export interface LimitEvents {
  readonly memory: number;
  readonly processes: number;
}

/** What the groups have counted so far. */
export function limitEventsIn(outer: readonly string[]): LimitEvents {
  const groups = outer.flatMap((group) => [group, join(group, 'inside')]);
  const sum = (file: string, count: RegExp): number =>
    groups.map((group) => Number(count.exec(textOf(join(group, file)))?.[1] ?? 0)).reduce((total, one) => total + one, 0);
  return {
    memory: sum('memory.events', /^oom_kill (\d+)/m) + sum('memory.oom_control', /^oom_kill (\d+)/m),
    processes: sum('pids.events', /^max (\d+)/m),
  };
}

/** Most are not there, and to catch an error costs ten times as much as to look. */
function textOf(path: string): string {
  if (!existsSync(path)) return '';
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // removed meanwhile
  }
}

/** Removes the groups once their last process has gone; gives up after `deadlineMs`. True when nothing is left. */
export async function removeGroups(outer: readonly string[], deadlineMs = 5000): Promise<boolean> {
  const end = performance.now() + deadlineMs;
  for (const group of outer.flatMap((path) => [join(path, 'inside'), path])) {
    while (existsSync(group)) {
      const removed = await rmdir(group).then(
        () => true,
        () => false,
      );
      if (removed) break;
      if (performance.now() > end) return false;
      await delay(5);
    }
  }
  for (const parent of new Set(outer.map((path) => dirname(path)))) await rmdir(parent).catch(() => {}); // others may be in it
  return true;
}

const DEADLINE_MS = 10_000;

/** SIGKILL to each; resolves when none of them lives. Rejects after a deadline: a process in an uninterruptible wait. */
export async function killAll(processes: readonly ProcessIdentity[]): Promise<void> {
  await killPids(async () => processes.filter(isAlive).map(({ pid }) => pid));
}

/** The same for whatever `find` finds, asked again until it finds nothing: what dies may have started more meanwhile. */
export async function killPids(find: () => Promise<readonly number[]>): Promise<void> {
  const end = performance.now() + DEADLINE_MS;
  for (let waitMs = 1; ; waitMs = Math.min(waitMs * 2, 50)) {
    const found = (await find()).map((pid) => identify(pid)).filter((identity) => identity !== undefined);
    if (found.length === 0) return;
    if (performance.now() > end) throw new Error(`process ${found[0]?.pid} does not end`);
    for (const identity of found) signalProcess(identity, 'SIGKILL');
    await delay(waitMs);
  }
}
