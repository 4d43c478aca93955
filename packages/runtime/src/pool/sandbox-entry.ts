import type { OpenSandbox } from '../sandbox/hold-sandbox.ts';
import type { Starting } from './shared-start.ts';

/** What a server knows of the sandbox of one conversation. */
export type SandboxEntry =
  | ({ readonly state: 'starting' } & Starting)
  /** `suspendedAt`: how often it had been used when it was suspended; the next use resumes it. */
  | { readonly state: 'live'; readonly open: OpenSandbox; readonly refused?: Refusal; readonly suspendedAt?: number }
  /** Asked to hibernate; live again when it refuses. */
  | { readonly state: 'hibernating'; readonly open: OpenSandbox; readonly done: Promise<unknown> }
  /** It is being ended, removed or attached to: callers wait, and look again then. */
  | { readonly state: 'changing'; readonly done: Promise<void> };

/** It refused to be suspended or hibernated. */
export interface Refusal {
  readonly at: number;
  readonly reason: string;
}

export function isSuspended(entry: SandboxEntry): boolean {
  return entry.state === 'live' && entry.suspendedAt === entry.open.use.count();
}

export interface SandboxCounts {
  /** Also those that are starting or ending. */
  readonly running: number;
  /** Hibernated ones are not counted: no process holds them. */
  readonly suspended: number;
  /** What they have added to the disk, when it was last counted. */
  readonly diskBytes: number;
  /** Those that take more of it than they may. */
  readonly overDisk: number;
}

export function countSandboxes(entries: Iterable<SandboxEntry>): SandboxCounts {
  const all = [...entries];
  const disks = all.flatMap((entry) => (entry.state === 'live' || entry.state === 'hibernating' ? [entry.open.disk] : []));
  const suspended = all.filter(isSuspended).length;
  return {
    running: all.length - suspended,
    suspended,
    diskBytes: disks.reduce((sum, disk) => sum + (disk.used()?.bytes ?? 0), 0),
    overDisk: disks.filter((disk) => disk.isOver()).length,
  };
}
