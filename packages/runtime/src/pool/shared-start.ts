import { type Runtime, type Runtimes, type StartPhase, KeyedSemaphore } from '@tendon/core';
import { abortable } from '@tendon/protocol/async';
import type { OpenSandbox } from '../sandbox/hold-sandbox.ts';
import { openSandbox } from '../sandbox/open-sandbox.ts';
import type { SandboxContext } from '../sandbox/sandbox-context.ts';
import { inPhase, StartFailed } from '../sandbox/start-phase.ts';

/** A start of a sandbox that several callers wait for; one of them going away ends neither the start nor the others' wait. */
export interface SharedStart {
  readonly abort: AbortController;
  /** A caller no longer wants the actions that may still run in it. */
  readonly unwanted: AbortController;
  readonly listeners: Set<(phase: StartPhase, detail?: string) => void>;
  phase: StartPhase;
  /** It counts among those that run. */
  hasCapacity: boolean;
}

export interface Starting {
  readonly start: SharedStart;
  readonly opened: Promise<OpenSandbox>;
}

export interface StartGates {
  /** Resolves when one more may be started. */
  readonly findCapacity: (start: SharedStart, signal: AbortSignal) => Promise<void>;
  /** Runs a start when it is its turn. */
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

/** Waits for it as one of its callers. */
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

/** A start that died is tried again: what ended one need not be there for the next. */
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

/** Lets at most `limit` tasks run at a time, the others wait in order; one whose signal aborts leaves the queue. */
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
