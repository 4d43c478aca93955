import { randomBytes } from 'node:crypto';
import { opendir } from 'node:fs/promises';
import type { Clock, RecordStore, Runtime, Runtimes, StartPhase } from '@tendon/core';
import { addressOf, type Driver } from './drivers/driver.ts';
import type { ExecutorAddress } from './executor-door.ts';
import { endSandbox, letGo, openSandbox, type OpenContext, type OpenSandbox, type SandboxPlan } from './open-sandbox.ts';
import { admission } from './admission.ts';
import type { RefusedHost } from './proxy/refused-hosts.ts';
import { createWayOut, type WayOutOptions } from './proxy/way-out.ts';
import type { SandboxPorts } from './sandbox-ports.ts';
import { reconcileSandboxes } from './reconcile-sandboxes.ts';
import { planFolders } from './sandbox-folders.ts';
import { sandboxRecords } from './sandbox-record.ts';
import { StartFailed } from './start-phase.ts';

const MAX_STARTS = 3;

export interface RuntimesOptions extends Omit<WayOutOptions, 'notice'> {
  readonly records: RecordStore;
  readonly driver: Driver;
  /** Absolute; made with mode 0700. Sandboxes keep homes, journals and logs here. */
  readonly stateRoot: string;
  /** The realpath of the conversation's workspace; `undefined` when there is no such conversation (any more). */
  readonly workspaceOf: (conversationId: string) => Promise<{ readonly hostPath: string } | undefined>;
  readonly clock: Clock;
  /** One line for the server's log. */
  readonly onNotice?: (notice: string) => void;
  /** Seconds that a sandbox lives on without a server. */
  readonly leaseSeconds?: number;
  /** Seconds without output after which a command is handed back as still running. */
  readonly noOutputTimeoutSeconds?: number;
  /** Names and equips the next sandbox of a conversation; `undefined` = only one that lives may be used. Default: a fresh name, and the values above. */
  readonly planOf?: (conversationId: string) => SandboxPlan | undefined;
  /** Of which conversations the leases are renewed here while a sandbox is held. Default: of all. */
  readonly renewsLease?: (conversationId: string) => boolean;
  /** Starts at the same time; the others wait. */
  readonly maxParallelStarts?: number;
}

export interface SandboxRuntimes extends Runtimes {
  /** Where the conversation's sandbox wanted to connect to and might not, the newest last; a bounded number. */
  refusedHosts(conversationId: string): readonly RefusedHost[];
  /** Once at server start: ends and removes what belongs to no conversation, and what was cut off in mid start; counts this server's. */
  reconcile(): Promise<{ readonly kept: number; readonly reaped: number }>;
  /** What the live sandbox's programs serve, and the way to it, without starting any. */
  ports(conversationId: string): SandboxPorts | undefined;
  /** Where the executor of the live sandbox answers. */
  addressOf(conversationId: string): ExecutorAddress | undefined;
  /** Ends the sandbox; the private home stays for the next. */
  end(conversationId: string, reason: string): Promise<void>;
  /** Lets go of every sandbox; they live on for their lease, to be found again. With `stopSandboxes` they end. */
  close(options?: { readonly stopSandboxes?: boolean }): Promise<void>;
}

type Entry =
  | { readonly state: 'starting'; readonly start: SharedStart; readonly opened: Promise<OpenSandbox> }
  | { readonly state: 'live'; readonly open: OpenSandbox }
  | { readonly state: 'ending'; readonly done: Promise<void> };

interface SharedStart {
  readonly abort: AbortController;
  readonly listeners: Set<(phase: StartPhase, detail?: string) => void>;
  phase: StartPhase;
}

/**
 * The sandboxes of one server, at most one per conversation. Owns which of them this process holds; the processes themselves
 * belong to nobody and are found again by their records. Invariants:
 * 1. An incarnation is handed out only after its record is durable.
 * 2. Callers share a start; one of them going away ends neither the start nor the others' wait.
 * 3. A conversation's next sandbox does not start before its last one has ended.
 */
export function createRuntimes(options: RuntimesOptions): SandboxRuntimes {
  const entries = new Map<string, Entry>();
  const admit = admission(options.maxParallelStarts ?? 4);
  let isClosed = false;
  const leaseSeconds = options.leaseSeconds ?? 600;
  const context: OpenContext = {
    records: sandboxRecords(options.records),
    driver: options.driver,
    folders: planFolders(options.stateRoot),
    clock: options.clock,
    workspaceOf: options.workspaceOf,
    notice: options.onNotice ?? (() => {}),
    leaseSeconds,
    planOf:
      options.planOf ??
      (() => ({ incarnation: newIncarnation(), leaseSeconds, noOutputTimeoutSeconds: options.noOutputTimeoutSeconds ?? 10 })),
    renewsLease: options.renewsLease ?? (() => true),
    wayOut: createWayOut({ ...options, notice: options.onNotice ?? (() => {}) }),
  };

  function beginStart(conversationId: string): Entry & { state: 'starting' } {
    const start: SharedStart = { abort: new AbortController(), listeners: new Set(), phase: 'starting' };
    const { signal } = start.abort;
    const onPhase = (phase: StartPhase, detail?: string): void => {
      start.phase = phase;
      for (const listener of start.listeners) listener(phase, detail);
    };
    const opened = admit(() => openPersistently(context, conversationId, { signal, onPhase }), signal).then(
      (open) => {
        // A stop that came meanwhile has put its own entry and ends what it finds here.
        if (isCurrent(conversationId, start)) enterLive(conversationId, open);
        return open;
      },
      (error: unknown) => {
        if (isCurrent(conversationId, start)) entries.delete(conversationId);
        throw error;
      },
    );
    opened.catch(() => {}); // every caller may have gone
    const entry = { state: 'starting', start, opened } as const;
    entries.set(conversationId, entry);
    return entry;
  }

  function isCurrent(conversationId: string, start: SharedStart): boolean {
    const entry = entries.get(conversationId);
    return entry?.state === 'starting' && entry.start === start;
  }

  function enterLive(conversationId: string, open: OpenSandbox): void {
    entries.set(conversationId, { state: 'live', open });
    void open.watch.lost.then((reason) => onLost(conversationId, open, reason));
  }

  /** Asks the process table too: the watcher may not have noticed yet. */
  function liveRuntime(conversationId: string, entry: Entry | undefined): Runtime | undefined {
    if (entry?.state !== 'live') return undefined;
    if (context.driver.isAlive(entry.open.handle)) return entry.open.runtime;
    entry.open.watch.report('the sandbox ended');
    void beginEnd(conversationId, 'the sandbox ended');
    return undefined;
  }

  function onLost(conversationId: string, open: OpenSandbox, reason: string): void {
    const entry = entries.get(conversationId);
    if (entry?.state !== 'live' || entry.open !== open) return;
    context.notice(`sandbox ${open.runtime.incarnation} of conversation ${conversationId}: ${reason}`);
    void beginEnd(conversationId, reason);
  }

  /** Puts the conversation into `ending`; resolves when nothing of its sandbox is left. */
  function beginEnd(conversationId: string, reason: string): Promise<void> {
    const entry = entries.get(conversationId);
    if (entry?.state === 'ending') return entry.done;
    const ending: Entry = {
      state: 'ending',
      done: end(conversationId, entry, reason).finally(() => {
        if (entries.get(conversationId) === ending) entries.delete(conversationId);
      }),
    };
    entries.set(conversationId, ending);
    ending.done.catch((error: unknown) => context.notice(`the sandbox of ${conversationId} did not end cleanly: ${String(error)}`));
    return ending.done;
  }

  async function end(conversationId: string, entry: Entry | undefined, reason: string): Promise<void> {
    if (entry?.state === 'starting') entry.start.abort.abort(new Error('the sandbox was stopped'));
    const open = entry?.state === 'live' ? entry.open : entry?.state === 'starting' ? await entry.opened.catch(() => undefined) : undefined;
    open?.watch.report(reason);
    if (open !== undefined) await letGo(open);
    const record = await context.records.get(conversationId);
    if (record !== undefined && record.state !== 'ended') await endSandbox(context, record, reason);
  }

  return {
    async acquire(conversationId, { signal, onPhase }): Promise<Runtime> {
      for (;;) {
        signal.throwIfAborted();
        if (isClosed) throw new Error('the server is shutting down');
        const entry = entries.get(conversationId);
        const live = liveRuntime(conversationId, entry);
        if (live !== undefined) return live;
        if (entry?.state === 'live') continue; // found dead: it is ending now
        if (entry?.state === 'ending') {
          await untilAborted(
            entry.done.catch(() => {}),
            signal,
          );
          continue;
        }
        const { start, opened } = entry ?? beginStart(conversationId);
        if (onPhase) start.listeners.add(onPhase);
        onPhase?.(start.phase);
        try {
          return (await untilAborted(opened, signal)).runtime;
        } finally {
          if (onPhase) start.listeners.delete(onPhase);
        }
      }
    },
    async isWorkspaceEmpty(conversationId) {
      if (context.driver.isElsewhere) return false;
      const workspace = await options.workspaceOf(conversationId);
      const opened = workspace && (await opendir(workspace.hostPath).catch(() => undefined));
      if (!opened) return false;
      await using folder = opened;
      return (await folder.read()) === null;
    },
    current: (conversationId) => liveRuntime(conversationId, entries.get(conversationId)),
    ports(conversationId) {
      const entry = entries.get(conversationId);
      return liveRuntime(conversationId, entry) && entry?.state === 'live' ? entry.open.client.ports : undefined;
    },
    addressOf(conversationId) {
      const entry = entries.get(conversationId);
      return entry?.state === 'live' ? addressOf(context.driver, entry.open.handle) : undefined;
    },
    end: beginEnd,
    async stop(conversationId, { forGood = false } = {}) {
      await beginEnd(conversationId, 'the sandbox was stopped');
      context.wayOut.forget(conversationId);
      await context.folders.removeSandbox(context.folders.nameOf(conversationId));
      await context.driver.forget?.(conversationId, { workspace: forGood });
    },
    refusedHosts: context.wayOut.refusedHosts,
    reconcile: () => reconcileSandboxes(context, (conversationId) => entries.has(conversationId)),
    async close({ stopSandboxes = false } = {}) {
      isClosed = true;
      const held = [...entries.entries()];
      if (stopSandboxes) await Promise.allSettled(held.map(([conversationId]) => beginEnd(conversationId, 'the server was shut down')));
      else await Promise.allSettled(held.map(([, entry]) => release(entry)));
      entries.clear();
    },
  };
}

/** Names a sandbox for ever. */
export function newIncarnation(): string {
  return randomBytes(8).toString('hex');
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

async function release(entry: Entry): Promise<void> {
  if (entry.state === 'ending') return entry.done;
  if (entry.state === 'live') return letGo(entry.open);
  entry.start.abort.abort(new Error('the server is shutting down'));
  const open = await entry.opened.catch(() => undefined);
  if (open !== undefined) await letGo(open);
}

/** The promise, or the signal's reason if that comes first; the promise itself goes on. */
async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
