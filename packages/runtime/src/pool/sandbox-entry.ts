import type { OpenSandbox } from '../sandbox/hold-sandbox.ts';
import type { Starting } from './shared-start.ts';

/** What a server knows of the sandbox of one conversation. */
export type Entry =
  | ({ readonly state: 'starting' } & Starting)
  /** `asleepAt`: how often it had been used when it fell asleep in its place; it sleeps until that is more. */
  | { readonly state: 'live'; readonly open: OpenSandbox; readonly refused?: Refusal; readonly asleepAt?: number }
  /** Asked to sleep; live again when it does not. */
  | { readonly state: 'dozing'; readonly open: OpenSandbox; readonly done: Promise<unknown> }
  /** It is being ended, removed or attached to: callers wait, and look again then. */
  | { readonly state: 'changing'; readonly done: Promise<void> };

/** It was asked to sleep in vain. */
export interface Refusal {
  readonly at: number;
  readonly reason: string;
}

export function isAsleep(entry: Entry): boolean {
  return entry.state === 'live' && entry.asleepAt === entry.open.use.count();
}

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
