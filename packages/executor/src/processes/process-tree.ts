import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { blockedCall, inputsOfCall } from './inputs-of-call.ts';

/** What `/proc` says of processes, in the process ids of the executor's own namespace. */
export interface ProcessStat {
  readonly state: string;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** Process group that owns the terminal; −1 without one. */
  readonly foreground: number;
  /** Of the clock, so far, in which it ran. */
  readonly ticks: number;
  /** And those of the children it has outlived. */
  readonly ticksWithChildren: number;
  /** Ticks after the start of the system; with the id it names one process and no later one. */
  readonly startedAt: number;
}

export function processStat(pid: number): ProcessStat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const [state = '?', parent, group, session, , foreground] = fields;
    const ids = { parent: Number(parent), group: Number(group), session: Number(session), foreground: Number(foreground) };
    const [own = 0, ownInKernel = 0, ofChildren = 0, theirsInKernel = 0] = fields.slice(11, 15).map(Number);
    const ticks = own + ownInKernel;
    const ticksWithChildren = ticks + ofChildren + theirsInKernel;
    return { state, ...ids, ticks, ticksWithChildren, startedAt: Number(fields[19]) };
  } catch {
    return undefined; // gone
  }
}

export function allProcesses(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

export function childOf(pid: number): number | undefined {
  return allProcesses().find((candidate) => processStat(candidate)?.parent === pid);
}

export function membersOf(group: number): number[] {
  return allProcesses().filter((pid) => processStat(pid)?.group === group);
}

/** Which read of this terminal a process blocks in: the same text for the same place in its program. */
export function terminalReadOf(pid: number, device: string): string | undefined {
  const call = blockedCall(pid);
  return call?.name === 'read' && fileOf(pid, call.args[0] ?? -1) === device ? call.args.slice(0, 3).join(' ') : undefined;
}

/** How often it has blocked so far: the same number = it has done nothing since. */
export function voluntarySwitchesOf(pid: number): number {
  return Number(/^voluntary_ctxt_switches:\s*(\d+)$/m.exec(read(`/proc/${pid}/status`))?.[1]);
}

/** Its folder, as it is named now. */
export function folderOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`).replace(/ \(deleted\)$/, '');
  } catch {
    return undefined; // gone
  }
}

/** Only our own shells are started so; they read the terminal for a command (`read`) and not for the next line. */
export const OURS = '--noediting';

/** Whether it is an interactive bash at its prompt, not ours: no script, no command, waiting for a line from this terminal. */
export function isShellAtPrompt(pid: number, device: string): boolean {
  const [name = '', ...options] = read(`/proc/${pid}/cmdline`).split('\0').slice(0, -1);
  if (!/^-?(?:.*\/)?bash$/.test(name) || !options.every((option) => /^(?:--[a-z-]+|-[abd-z]+)$/i.test(option))) return false;
  if (options.includes(OURS)) return false;
  const call = blockedCall(pid);
  // While it starts it reads something else: files, and the pipe of a command that its start-up file waits for.
  if (call === undefined || !/^(?:pselect6|read)$/.test(call.name)) return false;
  return inputsOfCall(pid, call).descriptors.some((descriptor) => fileOf(pid, descriptor) === device);
}

/** What a descriptor of a process leads to. */
export function fileOf(pid: number, descriptor: number): string {
  try {
    return readlinkSync(`/proc/${pid}/fd/${descriptor}`);
  } catch {
    return '';
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // gone, or not ours to look at
  }
}

/** Kills every process of a session whose leader still lives. */
export function killSession(leader: number): void {
  const members = allProcesses().filter((pid) => pid !== leader && processStat(pid)?.session === leader);
  for (const pid of [...members, leader]) signalProcess(pid, 'SIGKILL');
}

/** Signals a process, or with a negative id its group; one that is gone is no error. */
export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    if (Math.abs(pid) > 1) process.kill(pid, signal);
  } catch {
    // gone, or not ours any more
  }
}

export function signalGroup(group: number, signal: NodeJS.Signals): void {
  signalProcess(-group, signal);
}

/** A process below the executor that lives. */
export interface Descendant {
  readonly pid: number;
  /** Its letter in the process table. */
  readonly state: string;
  /** Processor time that it and the children it has outlived have taken, in hundredths of a second. */
  readonly ticks: number;
  /** 1 = the executor's own child. */
  readonly depth: number;
}

/** Those that are not among `own`; what has ended and waits to be reaped does not count. */
export function descendants(own: ReadonlySet<number>): readonly Descendant[] {
  const stats = new Map(allProcesses().map((pid) => [pid, processStat(pid)]));
  /** 0 = not below this process. */
  const depthOf = (pid: number): number => {
    for (let at = pid, depth = 0; at > 0; at = stats.get(at)?.parent ?? 0, depth += 1) if (at === process.pid) return depth;
    return 0;
  };
  return [...stats].flatMap(([pid, stat]) => {
    const depth = depthOf(pid);
    if (stat === undefined || stat.state === 'Z' || own.has(pid) || depth === 0) return [];
    return [{ pid, state: stat.state, ticks: stat.ticksWithChildren, depth }];
  });
}

/** As in "sleep (12)". */
export function processText(pid: number): string {
  return `${nameOf(pid)} (${pid})`;
}

export function nameOf(pid: number | 'self'): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
  } catch {
    return 'a process';
  }
}
