import type { OpenSandbox } from '../sandbox/hold-sandbox.ts';
import type { Starting } from './shared-start.ts';

/** What this process knows about the sandbox of one conversation. */
export type SandboxEntry =
  | ({ readonly state: 'starting' } & Starting)
  /** `suspendedAt`: the use count when it was suspended; the next use resumes it. */
  | { readonly state: 'live'; readonly open: OpenSandbox; readonly refused?: Refusal; readonly suspendedAt?: number }
  /** It was asked to hibernate; if it refuses, it is live again. */
  | { readonly state: 'hibernating'; readonly open: OpenSandbox; readonly done: Promise<unknown> }
  /** It is being ended, removed or attached to; callers wait until that is done and look again. */
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
  /** Includes sandboxes that are starting or ending. */
  readonly running: number;
  /** Does not include hibernated ones, which no process holds. */
  readonly suspended: number;
  /** What they had added to the disk at the last measurement. */
  readonly diskBytes: number;
  /** Sandboxes above their disk limit. */
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
