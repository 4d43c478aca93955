import { isAsleep, type Entry } from './sandbox-entry.ts';

export interface SandboxCounts {
  /** Also those that start and end just now. */
  readonly awake: number;
  /** In their places: those that ended to sleep are nobody's to count. */
  readonly asleep: number;
  /** What they have added to the disk, when it was last counted. */
  readonly diskBytes: number;
  /** Those that take more of it than they may. */
  readonly overDisk: number;
}

export function countSandboxes(entries: Iterable<Entry>): SandboxCounts {
  const all = [...entries];
  const disks = all.flatMap((entry) => (entry.state === 'live' || entry.state === 'dozing' ? [entry.open.disk] : []));
  const asleep = all.filter(isAsleep).length;
  return {
    awake: all.length - asleep,
    asleep,
    diskBytes: disks.reduce((sum, disk) => sum + (disk.used()?.bytes ?? 0), 0),
    overDisk: disks.filter((disk) => disk.isOver()).length,
  };
}
