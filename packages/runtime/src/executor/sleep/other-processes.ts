import { readFileSync } from 'node:fs';
import { allProcesses, processStat } from '../shell/process-tree.ts';

/** Processes below this one that are not among `own`, as "name (pid)"; those that have ended and wait to be reaped do not count. */
export function otherProcesses(own: ReadonlySet<number>): readonly string[] {
  const stats = new Map(allProcesses().map((pid) => [pid, processStat(pid)]));
  const isBelow = (pid: number): boolean => {
    for (let at = stats.get(pid)?.parent ?? 0; at > 1; at = stats.get(at)?.parent ?? 0) if (at === process.pid) return true;
    return false;
  };
  return [...stats]
    .filter(([pid, stat]) => stat !== undefined && stat.state !== 'Z' && !own.has(pid) && isBelow(pid))
    .map(([pid]) => `${nameOf(pid)} (${pid})`);
}

function nameOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
  } catch {
    return 'a process';
  }
}
