import { execFileSync } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFileSync, readlinkSync, readSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';

/** Names one process for ever: a pid alone is reused. `startTime` is in clock ticks since boot (Linux). */
export interface ProcessIdentity {
  readonly pid: number;
  readonly startTime: string;
  readonly bootId: string;
}

const PROCESSES_PER_TURN = 64;
/** So many names are looked for one by one. */
const FEW = 4;
/** More than any command line or environment but odd ones. */
const scratch = Buffer.alloc(64 * 1024);

let cachedBootId: string | undefined;

function bootId(): string {
  cachedBootId ??=
    process.platform === 'linux'
      ? readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
      : execFileSync('sysctl', ['-n', 'kern.boottime'], { encoding: 'utf8' }).trim();
  return cachedBootId;
}

let cachedPidSpace: string | undefined;

/** Where pids mean the same as here: this boot, and this PID namespace. */
export function pidSpace(): string {
  cachedPidSpace ??= process.platform === 'linux' ? `${bootId()} ${readlinkSync('/proc/self/ns/pid')}` : bootId();
  return cachedPidSpace;
}

/** The identity of a live process; `undefined` when there is none or it is a zombie. */
export function identify(pid: number): ProcessIdentity | undefined {
  const startTime = process.platform === 'linux' ? linuxStartTime(pid) : posixStartTime(pid);
  return startTime === undefined ? undefined : { pid, startTime, bootId: bootId() };
}

export function isAlive(identity: ProcessIdentity): boolean {
  if (identity.bootId !== bootId()) return false;
  return identify(identity.pid)?.startTime === identity.startTime;
}

/** Sends the signal only to that very process. False when it is gone. */
export function signalProcess(identity: ProcessIdentity, signal: NodeJS.Signals): boolean {
  if (!isAlive(identity)) return false;
  try {
    process.kill(identity.pid, signal);
    return true;
  } catch {
    return false;
  }
}

/**
 * Pids whose command line or environment contains `text`; none on systems other than Linux. Never this process.
 * @internal
 */
export function findProcesses(text: string, source: 'cmdline' | 'environ'): readonly number[] {
  return otherPids().filter((pid) => readProcess(pid, source).includes(text));
}

/**
 * Pids whose command line or environment names one of these incarnations, right behind `mark`. Every process is read once, however
 * many incarnations there are, and the event loop gets a turn in between.
 */
export async function findIncarnations(
  incarnations: readonly string[],
  source: 'cmdline' | 'environ',
  mark = '',
): Promise<readonly number[]> {
  const isNamed = incarnations.length <= FEW ? namesOneOf(incarnations, mark) : namesAnyOf(new Set(incarnations), mark);
  const found: number[] = [];
  for (const [index, pid] of otherPids().entries()) {
    if (index % PROCESSES_PER_TURN === PROCESSES_PER_TURN - 1) await setImmediate();
    if (isNamed(readProcess(pid, source))) found.push(pid);
  }
  return found;
}

/** Looked for one by one in the bytes: most ends are of one sandbox, and there are hundreds of processes. */
function namesOneOf(incarnations: readonly string[], mark: string): (text: Buffer) => boolean {
  const names = incarnations.map((name) => Buffer.from(`${mark}${name}`, 'latin1'));
  return (text) => names.some((name) => text.includes(name));
}

/** One pass over the text, however many there are. */
function namesAnyOf(incarnations: ReadonlySet<string>, mark: string): (text: Buffer) => boolean {
  const named = new RegExp(`(?=${mark}([0-9a-f]{16}))`, 'g');
  return (text) => {
    for (const [, name = ''] of text.toString('latin1').matchAll(named)) if (incarnations.has(name)) return true;
    return false;
  };
}

function otherPids(): readonly number[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map(Number);
}

/** Holds until the next call. */
function readProcess(pid: number, source: 'cmdline' | 'environ'): Buffer {
  const path = `/proc/${pid}/${source}`;
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    // These files have no size, and are filled at once as far as they fit.
    let length = 0;
    for (let read = -1; read !== 0; length += read) {
      if (length === scratch.length) return readFileSync(path);
      read = readSync(file, scratch, length, scratch.length - length, null);
    }
    return scratch.subarray(0, length);
  } catch {
    return Buffer.alloc(0); // gone meanwhile, or another user's
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function linuxStartTime(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name field may hold spaces and brackets: fields count from after the last bracket (state is field 3, start time 22).
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
  } catch {
    return undefined;
  }
}

function posixStartTime(pid: number): string | undefined {
  try {
    const line = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim();
    return line === '' || line.startsWith('Z') ? undefined : line.replace(/^\S+\s+/, '');
  } catch {
    return undefined;
  }
}
