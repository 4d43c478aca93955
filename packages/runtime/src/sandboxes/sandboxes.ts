import { randomBytes } from 'node:crypto';
import { opendir } from 'node:fs/promises';
import type { Clock, RecordStore, Runtime, Runtimes, StartPhase } from '@tendon/core';
import type { SandboxInfo } from '@tendon/protocol';
import { addressOf, type Driver } from '../drivers/driver.ts';
import { createReapers, type Reaper } from '../drivers/reapers.ts';
import { PLUGIN_NAMES, type PluginName } from '../executor-api.ts';
import type { ExecutorAddress } from '../link/executor-door.ts';
import {
  endSandbox,
  letGo,
  openSandbox,
  STOPPED,
  tellNetwork,
  type OpenContext,
  type OpenSandbox,
  type SandboxPlan,
} from '../sandbox/open-sandbox.ts';
import { admission } from './admission.ts';
import { createKernelPackages } from '../kernel-packages/kernel-packages.ts';
import { makePackagesInSandbox } from '../kernel-packages/make-packages.ts';
import type { NetworkPolicy } from '../proxy/network-policy.ts';
import type { RefusedHost } from '../proxy/refused-hosts.ts';
import { createWayOut, type WayOutOptions } from '../proxy/way-out.ts';
import type { SandboxPorts } from '../sandbox/sandbox-ports.ts';
import { createSandboxRest, type SleepWish } from './sandbox-rest.ts';
import { DEFAULT_REST, type RestPlan } from './rest-plan.ts';
import { countSandboxes, type SandboxCounts } from './count-sandboxes.ts';
import { isAsleep, type Entry, type SharedStart } from '../sandbox/sandbox-entry.ts';
import { listSandboxes, type Held } from './list-sandboxes.ts';
import { reconcileSandboxes } from './reconcile-sandboxes.ts';
import { planFolders } from '../sandbox/sandbox-folders.ts';
import { sandboxRecords } from '../sandbox/sandbox-record.ts';
import type { SecretsFor } from '../sandbox/sandbox-runtime.ts';
import { inPhase, StartFailed } from '../sandbox/start-phase.ts';
import { OUTPUT_LIMITS, type OutputLimits } from '../output-limits.ts';

const MAX_STARTS = 3;
const ROOM_DEADLINE_MS = 60_000;
const PORTS_MS = 1000;

export interface RuntimesOptions extends Omit<WayOutOptions, 'notice'> {
  readonly records: RecordStore;
  readonly driver: Driver;
  /** For sandboxes that another driver has started, before it was this one. */
  readonly otherReapers?: readonly Reaper[];
  /** Absolute; made with mode 0700. Sandboxes keep homes, journals and logs here. */
  readonly stateRoot: string;
  /** The realpath of the conversation's workspace; `undefined` when there is no such conversation (any more). */
  readonly workspaceOf: (conversationId: string) => Promise<{ readonly hostPath: string } | undefined>;
  readonly clock: Clock;
  /** One line for the server's log. */
  readonly onNotice?: (notice: string) => void;
  /** When sandboxes sleep, and how many are awake; what is not given is as usual. */
  readonly rest?: Partial<RestPlan>;
  /** A sandbox went to sleep, having nothing to do; its next action wakes it. */
  readonly onAsleep?: (conversationId: string) => void;
  /** Seconds that a sandbox lives on without a server. */
  readonly leaseSeconds?: number;
  /** Seconds without output after which a command is handed back as still running. */
  readonly noOutputTimeoutSeconds?: number;
  /** What sandboxes have beside shell and files. Default: every plugin. */
  readonly plugins?: readonly PluginName[];
  /** How much is kept of what they print, and shown. */
  readonly output?: OutputLimits;
  /** Beside the public registries, where packages for kernels may come from. */
  readonly registries?: Pick<NetworkPolicy, 'allow' | 'allowPrivate'>;
  /** Names and equips the next sandbox of a conversation; `undefined` = only one that lives may be used. Default: a fresh name, and the values above. */
  readonly planOf?: (conversationId: string) => SandboxPlan | undefined;
  /** Of which conversations the leases are renewed here while a sandbox is held. Default: of all. */
  readonly renewsLease?: (conversationId: string) => boolean;
  /** Variables that an action names and that are put into its command alone. Default: none. */
  readonly secretsFor?: SecretsFor;
  /** Starts at the same time; the others wait. */
  readonly maxParallelStarts?: number;
}

export interface SandboxRuntimes extends Runtimes {
  /** Where the conversation's sandbox wanted to connect to and might not, the newest last; a bounded number. */
  refusedHosts(conversationId: string): Promise<readonly RefusedHost[]>;
  /** Its policy is another now: resolves when it counts wherever the sandbox's way out is, or could not be told. */
  networkChanged(conversationId: string): Promise<void>;
  /** Once at server start: ends and removes what belongs to no conversation, and what was cut off in mid start; counts this server's. */
  reconcile(): Promise<{ readonly kept: number; readonly reaped: number }>;
  /** What the live sandbox's programs serve, and the way to it, without starting any. */
  ports(conversationId: string): SandboxPorts | undefined;
  /** Where the executor of the live sandbox answers. */
  addressOf(conversationId: string): ExecutorAddress | undefined;
  /** Puts it to sleep now, whether or not the plan would; resolves with why not when it stays awake. */
  sleep(conversationId: string, wish: SleepWish): Promise<string | undefined>;
  /** Ends the sandbox; the private home stays for the next. */
  end(conversationId: string, reason: string): Promise<void>;
  /** Of those that this process holds. */
  counts(): SandboxCounts;
  /** All that are known, of this process or not, with what they use. */
  list(): Promise<readonly SandboxInfo[]>;
  /** Ends and removes what belongs to no conversation; with `all` also what does, unless this process holds it. Homes go too. */
  reclaim(options: { readonly all: boolean }): Promise<{ readonly kept: number; readonly reaped: number }>;
  /** Lets go of every sandbox; they live on for their lease, to be found again. With `stopSandboxes` they end. */
  close(options?: { readonly stopSandboxes?: boolean }): Promise<void>;
}

/**
 * The sandboxes of one server, at most one per conversation. Owns which of them this process holds; the processes themselves
 * belong to nobody and are found again by their records. Invariants:
 * 1. An incarnation is handed out only after its record is durable.
 * 2. Callers share a start; one of them going away ends neither the start nor the others' wait.
 * 3. Not more than so many are awake; what is used, or has something running that would be lost, does not sleep.
 * 4. A conversation's next sandbox does not start before its last one has ended.
 */
export function createRuntimes(options: RuntimesOptions): SandboxRuntimes {
  const entries = new Map<string, Entry>();
  const admit = admission(options.maxParallelStarts ?? 4);
  let isClosed = false;
  const leaseSeconds = options.leaseSeconds ?? 600;
  const shared = {
    records: sandboxRecords(options.records),
    driver: options.driver,
    reapers: createReapers(options.driver, options.otherReapers ?? []),
    folders: planFolders(options.stateRoot),
    clock: options.clock,
    notice: options.onNotice ?? (() => {}),
    leaseSeconds,
  };
  const registries = { allow: [], allowPrivate: [], ...options.registries, mode: 'allowlist' } as const;
  const kernelPackages = createKernelPackages(
    makePackagesInSandbox({
      context: shared,
      newIncarnation,
      wayOut: createWayOut({
        ...(options.upstreamProxy && { upstreamProxy: options.upstreamProxy }),
        networkOf: async () => registries,
        notice: shared.notice,
      }),
    }),
  );
  const context: OpenContext = {
    ...shared,
    kernelPackages,
    workspaceOf: options.workspaceOf,
    planOf:
      options.planOf ??
      (() => ({ incarnation: newIncarnation(), leaseSeconds, noOutputTimeoutSeconds: options.noOutputTimeoutSeconds ?? 10 })),
    renewsLease: options.renewsLease ?? (() => true),
    plugins: options.plugins ?? PLUGIN_NAMES,
    output: options.output ?? OUTPUT_LIMITS,
    secretsFor: options.secretsFor ?? (() => new Map()),
    wayOut: createWayOut({ ...options, notice: options.onNotice ?? (() => {}) }),
  };
  const rest = createSandboxRest({
    context,
    plan: { ...DEFAULT_REST, ...options.rest },
    entries,
    onAsleep: options.onAsleep ?? (() => {}),
    end: (conversationId, reason) => void beginEnd(conversationId, reason),
  });

  function beginStart(conversationId: string): Entry & { state: 'starting' } {
    const start: SharedStart = { abort: new AbortController(), listeners: new Set(), phase: 'starting', hasRoom: false };
    const { signal } = start.abort;
    const onPhase = (phase: StartPhase, detail?: string): void => {
      start.phase = phase;
      for (const listener of start.listeners) listener(phase, detail);
    };
    const begin = async (): Promise<OpenSandbox> => {
      await inPhase({ name: 'finding room for it', deadlineMs: ROOM_DEADLINE_MS, signal }, (within) => rest.findRoom(start, within));
      return openPersistently(context, conversationId, { signal, onPhase });
    };
    const opened = admit(begin, signal).then(
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
    if (context.driver.isAlive(entry.open.handle)) {
      entry.open.use.touch();
      return entry.open.runtime;
    }
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
    if (entry?.state === 'dozing') await entry.done;
    if (entry?.state === 'starting') entry.start.abort.abort(new Error('the sandbox was stopped'));
    const open =
      entry?.state === 'live' || entry?.state === 'dozing'
        ? entry.open
        : entry?.state === 'starting'
          ? await entry.opened.catch(() => undefined)
          : undefined;
    open?.watch.report(reason);
    if (open !== undefined) await letGo(open);
    const record = await context.records.get(conversationId);
    if (record !== undefined && record.state !== 'ended') await endSandbox(context, record, reason);
  }

  const isHeld = (conversationId: string): boolean => entries.has(conversationId);

  return {
    async acquire(conversationId, { signal, onPhase }): Promise<Runtime> {
      for (;;) {
        signal.throwIfAborted();
        if (isClosed) throw new Error('the server is shutting down');
        const entry = entries.get(conversationId);
        const live = liveRuntime(conversationId, entry);
        if (live !== undefined) return live;
        if (entry?.state === 'live') continue; // found dead: it is ending now
        if (entry?.state === 'ending' || entry?.state === 'dozing') {
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
      // One that is asked to sleep refuses while something of the agent runs: what is served stays in reach.
      const open = entry?.state === 'live' || entry?.state === 'dozing' ? entry.open : undefined;
      return open && context.driver.isAlive(open.handle) ? open.ports : undefined;
    },
    addressOf(conversationId) {
      const entry = entries.get(conversationId);
      return entry?.state === 'live' ? addressOf(context.driver, entry.open.handle) : undefined;
    },
    sleep: rest.sleep,
    end: beginEnd,
    async stop(conversationId, { forGood = false } = {}) {
      await beginEnd(conversationId, STOPPED);
      context.wayOut.forget(conversationId);
      await context.folders.removeSandbox(context.folders.nameOf(conversationId));
      await context.driver.forget?.(conversationId, { workspace: forGood });
    },
    async refusedHosts(conversationId) {
      const entry = entries.get(conversationId);
      const { driver, wayOut } = context;
      if (driver.refusedHosts === undefined) return wayOut.refusedHosts(conversationId);
      return entry?.state === 'live' ? driver.refusedHosts(entry.open.handle).catch(() => []) : [];
    },
    async networkChanged(conversationId) {
      if (context.driver.setNetwork === undefined) return;
      const record = await context.records.get(conversationId);
      if (record?.state === 'live') await tellNetwork(context, conversationId, record.handle);
    },
    counts: () => countSandboxes(entries.values()),
    list: () => listSandboxes(context, (conversationId) => describe(entries.get(conversationId))),
    reconcile: () => reconcileSandboxes(context, { isHeld }),
    reclaim: ({ all }) => reconcileSandboxes(context, { isHeld, all, keepsOthers: true }),
    async close({ stopSandboxes = false } = {}) {
      isClosed = true;
      rest.close();
      await kernelPackages.close();
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

function describe(entry: Entry | undefined): Held | undefined {
  if (entry?.state !== 'live') return undefined;
  const { runtime, use, client } = entry.open;
  return {
    strength: runtime.strength,
    idleSeconds: Math.floor(use.idleMs() / 1000),
    awakeFor: entry.refused?.reason,
    isAsleep: isAsleep(entry),
    ports: async () => (await client.ports.list({ signal: AbortSignal.timeout(PORTS_MS) })).map(({ port }) => port),
  };
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
  if (entry.state === 'dozing') return entry.done.then(() => letGo(entry.open));
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
