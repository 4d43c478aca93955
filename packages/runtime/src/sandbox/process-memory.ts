import { readdirSync, readFileSync } from 'node:fs';
import { SUSPENDED_NAME } from '@tendon/protocol/executor-api';
import { processesIn } from '../processes/control-group.ts';
import type { SandboxHandle } from '../drivers/driver.ts';

/** The processes of a sandbox on this host: those in its control groups, or where it has none, those below its first one. */
export async function processesOf({ groups, anchor }: SandboxHandle): Promise<readonly number[]> {
  const grouped = groups.length === 0 ? [] : await processesIn(groups);
  if (grouped.length > 0 || anchor === undefined) return grouped;
  const pids = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
  const children = Map.groupBy(pids, parentOf);
  const found = new Set([anchor.pid]);
  for (const pid of found) for (const child of children.get(pid) ?? []) found.add(child);
  return [...found];
}

/** Summed PSS: a page that several share is counted once among them. What may not be looked at counts nothing. */
export function memoryOf(pids: readonly number[]): number {
  return pids
    .map((pid) => Number(/^Pss:\s+(\d+)/m.exec(textOf(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0) * 1024)
    .reduce((sum, one) => sum + one, 0);
}

/** Whether what the agent started in it is suspended: its executor writes that into the process table, which is trusted for nothing else. */
export function isExecutorSuspended({ anchor }: SandboxHandle): boolean {
  return anchor !== undefined && textOf(`/proc/${anchor.pid}/comm`).trim() === SUSPENDED_NAME;
}

function parentOf(pid: number): number {
  return Number(/^\d+ \(.*\) \S (\d+)/s.exec(textOf(`/proc/${pid}/stat`))?.[1] ?? 0);
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return ''; // gone, or not ours to look at
  }
}
