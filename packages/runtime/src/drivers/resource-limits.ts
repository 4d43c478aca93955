import type { Controller, Limits } from './control-group.ts';

/**
 * Command that lowers this process's own limits and becomes what follows: no core dumps, and a weaker stand-in for each
 * control group that could not be had (memory then counts per process, not for all together; processor time not at all).
 * Run it inside the user namespace: only there are its processes counted apart from the user's others.
 */
export function resourceLimits(limits: Limits, enforced: readonly Controller[]): readonly string[] {
  return [
    'prlimit',
    '--core=0',
    ...(enforced.includes('memory') ? [] : [`--data=${limits.memoryBytes}`]),
    ...(enforced.includes('pids') ? [] : [`--nproc=${limits.processes}`]),
    '--',
  ];
}
