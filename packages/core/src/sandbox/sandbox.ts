/**
 * A conversation's way to its sandbox. It owns what clients are sent about the start; the runtime belongs to `Runtimes`.
 */
import type { StatusFrame } from '@tendon/protocol';
import { unlessAborted } from '@tendon/protocol/async';
import { StorageError } from '../log/storage-error.ts';
import type { Runtime, Runtimes, StartPhase } from './runtime.ts';

export type Acquired =
  | { readonly ok: true; readonly runtime: Runtime }
  /** `isFenced`: another server has taken the conversation over. */
  | { readonly ok: false; readonly reason: string; readonly isFenced?: true };

export interface Sandbox {
  /** The live runtime; it is started when there is none. Never rejects. */
  acquire(signal: AbortSignal, options?: { readonly unwanted?: AbortSignal }): Promise<Acquired>;
  /** Of the live runtime, where there is one. */
  incarnation(): string | undefined;
  /** True when there is certainly nothing in it to read. Starts nothing and never rejects. */
  isWorkspaceEmpty(): Promise<boolean>;
}

const STATUS = {
  starting: 'STATUS$STARTING_RUNTIME',
  started: 'STATUS$RUNTIME_STARTED',
  workspace: 'STATUS$SETTING_UP_WORKSPACE',
  'git-hooks': 'STATUS$SETTING_UP_GIT_HOOKS',
  ready: 'STATUS$READY',
} as const satisfies Record<StartPhase, string>;

interface SandboxOptions {
  readonly emit: (frame: StatusFrame) => void;
  /** Nothing may run where the workspace can be changed. */
  readonly isReadOnly: () => boolean;
}

export function createSandbox(conversationId: string, runtimes: Runtimes, { emit, isReadOnly }: SandboxOptions): Sandbox {
  let lastStatus = '';
  /** Everybody who waits for a start learns of each of its phases; clients hear of each once. */
  function report(type: StatusFrame['type'], id: string, message = ''): void {
    if (lastStatus === `${id}${message}`) return;
    lastStatus = `${id}${message}`;
    emit({ volatile: 'status', type, id, message });
  }

  function checked(runtime: Runtime): Acquired {
    if (!isReadOnly() || runtime.isReadOnly) return { ok: true, runtime };
    return { ok: false, reason: 'this agent only reads, and its sandbox does not have the workspace mounted read-only' };
  }

  async function acquire(signal: AbortSignal, options: { readonly unwanted?: AbortSignal } = {}): Promise<Acquired> {
    const live = runtimes.current(conversationId);
    if (live) return checked(live);
    const onPhase = (phase: StartPhase, detail?: string): void => report('info', STATUS[phase], detail);
    try {
      // The start is shared with others, so leaving it must not depend on its ending.
      const runtime = await unlessAborted(runtimes.acquire(conversationId, { ...options, signal, onPhase }), signal);
      return runtime === undefined ? { ok: false, reason: 'it was cancelled' } : checked(runtime);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (error instanceof StorageError && error.code === 'fenced') return { ok: false, reason, isFenced: true };
      if (!signal.aborted) report('error', 'STATUS$ERROR_RUNTIME_DISCONNECTED', reason);
      return { ok: false, reason };
    }
  }
  return {
    acquire,
    incarnation: () => runtimes.current(conversationId)?.incarnation,
    isWorkspaceEmpty: async () => (await runtimes.isWorkspaceEmpty?.(conversationId).catch(() => false)) ?? false,
  };
}
