import { opendir } from 'node:fs/promises';
import { OUTPUT_LIMITS, PLUGIN_NAMES } from '@tendon/protocol/executor-api';
import { addressOf } from '../drivers/driver.ts';
import { holdFolder } from '../workspace/held-folder.ts';
import { newIncarnation } from '../incarnation.ts';
import { ProcessorWeights } from '../processes/processor-weights.ts';
import { askedOf, createReapers } from '../sandbox/reapers.ts';
import { createKernelPackages, type KernelPackages } from '../python-packages/kernel-packages.ts';
import { makePackagesInSandbox } from '../python-packages/make-packages.ts';
import { createEgress } from '../egress/egress.ts';
import { STOPPED } from '../sandbox/start-notice.ts';
import { sendNetwork } from '../sandbox/hold-sandbox.ts';
import type { SandboxContext } from '../sandbox/sandbox-context.ts';
import { copyWorkspace } from './copy-workspace.ts';
import { isSuspended, type SandboxEntry, countSandboxes } from './sandbox-entry.ts';
import { ONLY_OWNER } from '../sandbox/sandbox-owners.ts';
import { sandboxPlaces } from '../sandbox/sandbox-places.ts';
import { sandboxRecords } from '../sandbox/sandbox-record.ts';
import { HeldSandboxes } from './held-sandboxes.ts';
import { listSandboxes, type HeldSandbox } from './list-sandboxes.ts';
import { reconcileSandboxes, type ReconcileOptions } from './reconcile-sandboxes.ts';
import { DEFAULT_IDLE_PLAN, IdleSandboxes } from './idle-sandboxes.ts';
import { OneOffSandboxes } from './one-off-sandboxes.ts';
import type { SandboxPoolOptions, SandboxReaches, SandboxPool } from './sandbox-pool.ts';

const PORTS_MS = 1000;

/**
 * The sandboxes of one server. `entries` has those that this process holds. The sandboxes outlive this process, and the next one finds them
 * by their records. A sandbox that is in use, or runs something that would be lost, keeps running; at most `maxLive` run at a time.
 */
export function createSandboxPool(options: SandboxPoolOptions): SandboxPool {
  const entries = new Map<string, SandboxEntry>();
  const context = contextOf(options);
  const idle = new IdleSandboxes({
    context,
    plan: { ...DEFAULT_IDLE_PLAN, ...options.idlePlan },
    entries,
    onSuspended: options.onSuspended ?? (() => {}),
    end: (conversationId, reason) => void held.end(conversationId, reason),
    release: (conversationId) => void held.detach(conversationId),
  });
  const held = new HeldSandboxes({
    context,
    entries,
    findCapacity: (start, signal) => idle.findCapacity(start, signal),
  });
  const oneOffs = oneOffsOf(options, context, idle);
  const reconciling: ReconcileOptions = {
    isHeld: (conversationId) => entries.has(conversationId) || oneOffs.isHeld(conversationId),
    claim: (conversationId, work) => held.claim(conversationId, work),
  };

  return {
    ...reachesOf(context, entries),
    acquire: (conversationId, acquiring) => held.acquire(conversationId, acquiring),
    current: (conversationId) => held.live(conversationId),
    suspend: (conversationId) => idle.suspend(conversationId),
    hibernate: (conversationId, request) => idle.hibernate(conversationId, request),
    release: (conversationId) => held.detach(conversationId),
    end: (conversationId, reason) => held.end(conversationId, reason),
    runOneOff: (work, running) => oneOffs.run(work, running),
    async copyWorkspace(conversationId, request) {
      if (context.driver.remote) throw new Error('the sandboxes are on another host, where a workspace is not copied');
      await held.acquire(conversationId, request);
      const entry = entries.get(conversationId);
      if (entry?.state !== 'live') throw new Error('the sandbox ended meanwhile: try again');
      const { record } = entry.open;
      return copyWorkspace(entry.open.client, context.places.foldersOf(record).of(conversationId, record.incarnation), request);
    },
    remount: (conversationId) => held.remount(conversationId),
    async stop(conversationId, { forGood = false } = {}) {
      await held.end(conversationId, STOPPED, () => forgetSandbox(context, conversationId, forGood));
    },
    counts: () => countSandboxes(entries.values()),
    list: () => listSandboxes(context, (conversationId) => describe(entries.get(conversationId))),
    async reconcile() {
      await held.adoptLiving();
      return reconcileSandboxes(context, reconciling);
    },
    reclaim: ({ all }) => reconcileSandboxes(context, { ...reconciling, all, keepsOthers: true }),
    async close({ stopSandboxes = false } = {}) {
      held.shut();
      idle.close();
      await Promise.all([context.kernelPackages.close(), oneOffs.close()]);
      await held.release({ stopSandboxes });
      await context.egress.close();
    },
  };
}

/** Runs every step, even if one fails. */
async function forgetSandbox(context: SandboxContext, conversationId: string, forGood: boolean): Promise<void> {
  const { egress, places, driver, records, owners } = context;
  const record = await records.get(conversationId);
  const folders = places.foldersOf(record);
  try {
    await folders.removeSandbox(folders.nameOf(conversationId));
  } finally {
    try {
      const asked = record?.driver === driver.name ? askedOf(record, owners) : { ownerEpoch: owners.epochOf(conversationId) };
      await driver.forget?.(conversationId, { workspace: forGood, ...asked });
    } finally {
      await egress.forget(conversationId, { forGood });
    }
  }
}

function reachesOf(
  context: SandboxContext,
  entries: ReadonlyMap<string, SandboxEntry>,
): SandboxReaches & Pick<SandboxPool, 'isWorkspaceEmpty' | 'mountsReadOnly'> {
  const { driver, egress, records } = context;
  return {
    mountsReadOnly: driver.mountsReadOnly === true,
    async isWorkspaceEmpty(conversationId) {
      const record = await records.get(conversationId);
      if (driver.remote || (record && !context.places.reaches(record))) return false;
      const workspace = await context.workspaceOf(conversationId).catch(() => undefined); // a start reports it
      return workspace !== undefined && isEmptyFolder(workspace.hostPath);
    },
    ports(conversationId) {
      const entry = entries.get(conversationId);
      // A sandbox with running programs refuses to hibernate, so their ports stay reachable meanwhile.
      const open = entry?.state === 'live' || entry?.state === 'hibernating' ? entry.open : undefined;
      return open && driver.isAlive(open.handle) ? open.ports : undefined;
    },
    addressOf(conversationId) {
      const entry = entries.get(conversationId);
      return entry?.state === 'live' ? addressOf(driver, entry.open.handle) : undefined;
    },
    async refusedHosts(conversationId) {
      const entry = entries.get(conversationId);
      const { proxy } = driver.remote ?? {};
      if (proxy === undefined) return egress.refusedHosts(conversationId);
      return entry?.state === 'live' ? proxy.refusedHosts(entry.open.handle).catch(() => []) : [];
    },
    reachedHosts: async (conversationId) => (driver.remote?.proxy === undefined ? egress.reachedHosts(conversationId) : []),
    dialAs: (conversationId) => egress.of(conversationId).ownDial,
    async networkChanged(conversationId) {
      if (driver.remote?.proxy === undefined) return;
      const changed = conversationId === undefined ? [...entries.keys()] : [conversationId];
      await Promise.all(
        changed.map(async (id) => {
          const record = await records.get(id);
          if (record?.state === 'live') await sendNetwork(context, id, record.handle);
        }),
      );
    },
  };
}

/** False when the folder cannot be read. */
async function isEmptyFolder(path: string): Promise<boolean> {
  const held = await holdFolder(path).catch(() => undefined);
  if (held === undefined) return false;
  try {
    await using folder = await opendir(held.place);
    return (await folder.read()) === null;
  } catch {
    return false;
  } finally {
    held.close();
  }
}

/** The egress of one-off sandboxes: without the additions of a conversation, and without a person to ask. */
function oneOffsOf(options: SandboxPoolOptions, context: SandboxContext, idle: IdleSandboxes): OneOffSandboxes {
  const { upstreamProxy, nameServers, oneOffNetwork, onNotice } = options;
  return new OneOffSandboxes({
    context,
    egress: createEgress({
      ...(upstreamProxy && { upstreamProxy }),
      ...(nameServers && { nameServers }),
      ...(oneOffNetwork && { networkOf: oneOffNetwork }),
      notice: onNotice ?? (() => {}),
    }),
    findCapacity: (signal) => idle.findCapacity({ hasCapacity: false }, signal),
  });
}

/** The context that all sandboxes share, with defaults for missing options. */
function contextOf(options: SandboxPoolOptions): SandboxContext & { readonly kernelPackages: KernelPackages } {
  const leaseSeconds = options.leaseSeconds ?? 600;
  const owners = options.owners ?? ONLY_OWNER;
  const shared = {
    owners,
    records: sandboxRecords(options.records),
    driver: options.driver,
    reapers: createReapers(options.driver, options.otherReapers ?? [], owners),
    places: sandboxPlaces(options.stateRoot, options.driver),
    clock: options.clock,
    weights: new ProcessorWeights(() => performance.now()),
    notice: options.onNotice ?? (() => {}),
    leaseSeconds,
    outdatedMs: options.outdatedMs ?? 10 * 60_000,
  };
  const registries = { allow: [], allowPrivate: [], ...options.registries, mode: 'allowlist' } as const;
  const kernelPackages = createKernelPackages(
    makePackagesInSandbox({
      context: shared,
      egress: createEgress({
        ...(options.upstreamProxy && { upstreamProxy: options.upstreamProxy }),
        networkOf: async () => registries,
        notice: shared.notice,
      }),
    }),
  );
  return {
    ...shared,
    kernelPackages,
    workspaceOf: options.workspaceOf,
    planOf:
      options.planOf ??
      (() => ({ incarnation: newIncarnation(), leaseSeconds, noOutputTimeoutSeconds: options.noOutputTimeoutSeconds ?? 10 })),
    renewsLease: options.renewsLease ?? (() => true),
    plugins: options.plugins ?? PLUGIN_NAMES,
    checkpoints: options.checkpoints ?? true,
    output: options.output ?? OUTPUT_LIMITS,
    secretsFor: options.secretsFor ?? (async () => new Map()),
    egress: createEgress({ ...options, notice: options.onNotice ?? (() => {}) }),
  };
}

function describe(entry: SandboxEntry | undefined): HeldSandbox | undefined {
  if (entry?.state !== 'live') return undefined;
  const { runtime, use, client } = entry.open;
  return {
    strength: runtime.strength,
    idleSeconds: Math.floor(use.idleMs() / 1000),
    busyWith: entry.refused?.reason,
    isSuspended: isSuspended(entry),
    ports: async () => (await client.ports.list({ signal: AbortSignal.timeout(PORTS_MS) })).map(({ port }) => port),
  };
}
