import { readFileSync } from 'node:fs';
import { allProcesses, processStat } from './process-tree.ts';

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
