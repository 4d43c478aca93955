import { type Runtime, type Runtimes, type StartPhase, KeyedSemaphore } from '@tendon/core';
import { abortable } from '@tendon/protocol/async';
import type { OpenSandbox } from '../sandbox/hold-sandbox.ts';
import { openSandbox } from '../sandbox/open-sandbox.ts';
import type { SandboxContext } from '../sandbox/sandbox-context.ts';
import { inPhase, StartFailed } from '../sandbox/start-phase.ts';

/** A start of a sandbox that several callers wait for; one that goes away aborts neither the start nor the others' wait. */
export interface SharedStart {
  readonly abort: AbortController;
  /** A caller no longer wants the actions that may still run in it. */
  readonly unwanted: AbortController;
  readonly listeners: Set<(phase: StartPhase, detail?: string) => void>;
  phase: StartPhase;
  /** It counts among the running sandboxes. */
  hasCapacity: boolean;
}

export interface Starting {
  readonly start: SharedStart;
  readonly opened: Promise<OpenSandbox>;
}

export interface StartGates {
  /** Resolves when one more sandbox may run. */
  readonly findCapacity: (start: SharedStart, signal: AbortSignal) => Promise<void>;
  /** Runs a start when it is its turn (HLD4). */
  readonly admit: <T>(begin: () => Promise<T>, signal: AbortSignal) => Promise<T>;
}

const MAX_STARTS = 3;
const CAPACITY_DEADLINE_MS = 60_000;

export function beginStart(context: SandboxContext, conversationId: string, { findCapacity, admit }: StartGates): Starting {
  const start: SharedStart = {
    abort: new AbortController(),
    unwanted: new AbortController(),
    listeners: new Set(),
    phase: 'starting',
    hasCapacity: false,
  };
  const { signal } = start.abort;
  const onPhase = (phase: StartPhase, detail?: string): void => {
    start.phase = phase;
    for (const listener of start.listeners) listener(phase, detail);
  };
  const findPlace = (): Promise<void> =>
    inPhase({ name: 'finding capacity for it', deadlineMs: CAPACITY_DEADLINE_MS, signal }, (within) => findCapacity(start, within));
  const admitted = <T>(begin: () => Promise<T>): Promise<T> =>
    admit(async () => {
      if (!start.hasCapacity) await findPlace();
      return begin();
    }, signal);
  const opened = openPersistently(context, conversationId, { signal, unwanted: start.unwanted.signal, onPhase, admit: admitted });
  return { start, opened };
}

/** Waits for the start as one of its callers. */
export async function joinStart(
  { start, opened }: Starting,
  { signal, onPhase, unwanted }: Parameters<Runtimes['acquire']>[1],
): Promise<Runtime> {
  if (onPhase) start.listeners.add(onPhase);
  onPhase?.(start.phase);
  const cancel = (): void => start.unwanted.abort();
  unwanted?.addEventListener('abort', cancel);
  if (unwanted?.aborted) cancel();
  try {
    return (await abortable(opened, signal)).runtime;
  } finally {
    if (onPhase) start.listeners.delete(onPhase);
    unwanted?.removeEventListener('abort', cancel);
  }
}

/** Retries a start whose sandbox died: the cause may be gone by the next attempt. */
async function openPersistently(...[context, conversationId, options]: Parameters<typeof openSandbox>): Promise<OpenSandbox> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await openSandbox(context, conversationId, options);
    } catch (error) {
      const isWorthIt = error instanceof StartFailed && !error.timedOut && !options.signal.aborted;
      if (attempt === MAX_STARTS || !isWorthIt) throw error;
      context.notice(`the sandbox of ${conversationId} is started again: ${error.message}`);
    }
  }
}

/** Runs at most `limit` tasks at a time; the others wait in order. A task whose signal aborts leaves the queue. */
export function admission(limit: number): <T>(task: () => Promise<T>, signal: AbortSignal) => Promise<T> {
  const places = new KeyedSemaphore(limit);
  return async (task, signal) => {
    const leave = places.tryAcquire('start') ?? (await places.acquire('start', signal));
    try {
      signal.throwIfAborted();
      return await task();
    } finally {
      leave?.();
    }
  };
}
