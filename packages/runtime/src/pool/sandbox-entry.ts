import type { StartPhase } from '@tendon/core';
import type { OpenSandbox } from '../sandbox/hold-sandbox.ts';

/** What a server knows of the sandbox of one conversation. */
export type Entry =
  | { readonly state: 'starting'; readonly start: SharedStart; readonly opened: Promise<OpenSandbox> }
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

export interface SharedStart {
  readonly abort: AbortController;
  /** A caller no longer wants the actions that may still run in it. */
  readonly unwanted: AbortController;
  readonly listeners: Set<(phase: StartPhase, detail?: string) => void>;
  phase: StartPhase;
  /** It is among those that are awake. */
  hasRoom: boolean;
}

export function isAsleep(entry: Entry): boolean {
  return entry.state === 'live' && entry.asleepAt === entry.open.use.count();
}
