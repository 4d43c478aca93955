import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** What `/proc` says of processes, in the process ids of the executor's own namespace. */
export interface ProcessStat {
  readonly state: string;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** Process group that owns the terminal; −1 without one. */
  readonly foreground: number;
}

export function processStat(pid: number): ProcessStat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const [state = '?', parent, group, session, , foreground] = fields;
    return { state, parent: Number(parent), group: Number(group), session: Number(session), foreground: Number(foreground) };
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

/** Whether it sleeps in a read of this terminal: `read` (0 on x64, 63 on arm64) of a descriptor that leads there. */
export function readsTerminal(pid: number, device: string): boolean {
  try {
    const [call, descriptor] = readFileSync(`/proc/${pid}/syscall`, 'latin1').split(' ');
    if (call !== (process.arch === 'arm64' ? '63' : '0')) return false;
    return readlinkSync(`/proc/${pid}/fd/${Number(descriptor)}`) === device;
  } catch {
    return false;
  }
}

/** Signals a process group; a group that is gone is no error. */
export function signalGroup(group: number, signal: NodeJS.Signals): void {
  try {
    if (group > 1) process.kill(-group, signal);
  } catch {
    // gone, or not ours any more
  }
}
