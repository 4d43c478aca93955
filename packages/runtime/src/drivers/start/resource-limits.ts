import { readFileSync } from 'node:fs';
import type { Controller, Limits } from '../../processes/control-group.ts';

/**
 * Command that lowers this process's own limits and becomes what follows: no core dumps, the size of a
 * file, the descriptors of a process, and a weaker stand-in for each
 * control group that could not be had (memory then counts per process, not for all together; processor time not at all).
 * Run it inside the user namespace: only there are its processes counted apart from the user's others.
 */
export function resourceLimits(limits: Limits, enforced: readonly Controller[], more: readonly string[] = []): readonly string[] {
  return [
    'prlimit',
    '--core=0',
    ...atMost('fsize', 'Max file size', limits.fileBytes),
    ...atMost('nofile', 'Max open files', limits.openFiles),
    ...(enforced.includes('memory') ? [] : [`--data=${limits.memoryBytes}`]),
    ...(enforced.includes('pids') ? [] : [`--nproc=${limits.processes}`]),
    ...more,
    '--',
  ];
}

/**
 * Shares of what the kernel counts by user and user namespace, for a sandbox with a namespace of its own: all sandboxes of an ordinary
 * user are that user outside. A thousand signals that wait, and a quarter of the bytes that a user's message queues may usually have.
 */
export function sharesOfItsUser(): readonly string[] {
  return [...atMost('sigpending', 'Max pending signals', 1024), ...atMost('msgqueue', 'Max msgqueue size', 204_800)];
}

/** A process cannot raise a limit above that of its parent: then the lower one stays. */
function atMost(name: string, line: string, wanted: number): readonly string[] {
  const own = new RegExp(`^${line}\\s+\\S+\\s+(\\d+)`, 'm').exec(ownLimits())?.[1];
  return [`--${name}=${own === undefined ? wanted : Math.min(wanted, Number(own))}`];
}

function ownLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return '';
  }
}
