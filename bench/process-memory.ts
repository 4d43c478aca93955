import { readFileSync, readdirSync } from 'node:fs';

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}

const parentOf = (pid: number): number => Number(/^\S+ \(.*\) \S (\d+)/s.exec(readOrEmpty(`/proc/${pid}/stat`))?.[1] ?? 0);

/**
 * The processes of a server: itself, its descendants, and whatever names `home` on its command line (sandboxes outlive their
 * server, so they are not its children) with descendants.
 */
export function membersOf(server: number, home?: string): number[] {
  const pids = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
  const children = Map.groupBy(pids, parentOf);
  const roots = home ? pids.filter((pid) => pid !== process.pid && readOrEmpty(`/proc/${pid}/cmdline`).includes(home)) : [];
  const found = new Set([server, ...roots]);
  for (const pid of found) for (const child of children.get(pid) ?? []) found.add(child);
  found.delete(process.pid);
  return [...found];
}

/** Summed PSS in MiB: shared pages are counted once among those who share them. */
export function pssMiB(pids: readonly number[]): number {
  let kib = 0;
  for (const pid of pids) kib += Number(/^Pss:\s+(\d+)/m.exec(readOrEmpty(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0);
  return kib / 1024;
}
