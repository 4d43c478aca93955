import { setTimeout as delay } from 'node:timers/promises';
import type { Clock, Runtime, StartPhase } from '@tendon/core';
import { awaitExecutor } from './await-executor.ts';
import {
  addressOf,
  browserSocketPathOf,
  proxySocketPathOf,
  startLogOf,
  type Driver,
  type Probe,
  type SandboxHandle,
} from '../drivers/driver.ts';
import { listenBrowser, type BrowserDoor } from '../link/browser-door.ts';
import { createCallAnswerer, type CallAnswerer } from '../link/answer-calls.ts';
import type { Reapers } from '../drivers/reapers.ts';
import { boundLog, logTail } from '../drivers/start-log.ts';
import type { PluginName } from '../executor-api.ts';
import { createExecutorClient, type ExecutorClient } from '../link/executor-client.ts';
import { watchDisk, type DiskWatch } from '../disk/disk-watch.ts';
import { freeBytes, measureDisk, measureGiven } from '../disk/measure-disk.ts';
import { processesOf } from './process-memory.ts';
import { watchLimits } from './limit-notes.ts';
import { ON_THIS_HOST, OVER_A_NETWORK } from './patience.ts';
import { createPackagesDoor } from '../kernel-packages/packages-door.ts';
import type { KernelPackages } from '../kernel-packages/kernel-packages.ts';
import { listenProxy, type Proxy, type ProxyOptions } from '../proxy/listen-proxy.ts';
import { isOffline } from '../proxy/network-policy.ts';
import type { WayOut } from '../proxy/way-out.ts';
import type { FolderPlan } from './sandbox-folders.ts';
import { isThere, type SandboxRecord, type SandboxRecords } from './sandbox-record.ts';
import type { SandboxPorts } from './sandbox-ports.ts';
import { createSandboxRuntime, type SecretsFor } from './sandbox-runtime.ts';
import { countUse, type SandboxUse } from './sandbox-use.ts';
import { watchSandbox, type SandboxWatch } from './sandbox-watch.ts';
import { inPhase, messageOf, StartFailed } from './start-phase.ts';
import type { OutputLimits } from '../output-limits.ts';

/** A sandbox in this server's hands. */
export interface OpenSandbox {
  readonly runtime: Runtime;
  readonly handle: SandboxHandle;
  readonly client: ExecutorClient;
  readonly watch: SandboxWatch;
  readonly use: SandboxUse;
  readonly disk: DiskWatch;
  readonly ports: SandboxPorts;
  readonly record: SandboxRecord & { readonly state: 'live' };
  /** The way out; none where the sandbox is elsewhere. */
  readonly proxy: Proxy | undefined;
  /** To a browser beside the sandbox, where the driver has that. */
  readonly browser: BrowserDoor | undefined;
  /** For what a sandbox elsewhere asks of this server. */
  readonly calls: CallAnswerer | undefined;
}

export interface SandboxPlan {
  readonly incarnation: string;
  /** How long it lives without a server. */
  readonly leaseSeconds: number;
  readonly noOutputTimeoutSeconds: number;
}

export interface OpenContext {
  readonly records: SandboxRecords;
  readonly driver: Driver;
  /** The driver's own, and those of others. */
  readonly reapers: Reapers;
  readonly folders: FolderPlan;
  readonly clock: Clock;
  readonly workspaceOf: (conversationId: string) => Promise<{ readonly hostPath: string } | undefined>;
  readonly notice: (notice: string) => void;
  /** What the next sandbox of a conversation is given; `undefined` = none may be started now. */
  readonly planOf: (conversationId: string) => SandboxPlan | undefined;
  /** While this process holds a sandbox its lease is renewed for so long, unless that is for somebody else to do. */
  readonly leaseSeconds: number;
  readonly renewsLease: (conversationId: string) => boolean;
  readonly plugins: readonly PluginName[];
  readonly output: OutputLimits;
  readonly wayOut: WayOut;
  readonly secretsFor: SecretsFor;
  /** What Pythons without `ipykernel` are given; missing where nothing is. */
  readonly kernelPackages: KernelPackages | undefined;
}

export interface OpenOptions {
  readonly signal: AbortSignal;
  /** `detail` = what it is at just now, where that takes long. */
  readonly onPhase: (phase: StartPhase, detail?: string) => void;
}

const DEADLINE_MS = {
  workspace: 10_000,
  probe: 30_000,
  prepare: 15 * 60_000,
  process: 20_000,
  executor: 20_000,
  settle: 5000,
  attach: 10_000,
  record: 10_000,
} as const;

/** Why one ended that somebody wanted to be gone, with what it kept. */
export const STOPPED = 'the sandbox was stopped';
const LOST =
  'the host of the sandbox has lost what it kept: variables and working directory, and whatever lay there in the home and in temporary folders, are gone';

/** The conversation's sandbox: the one that lives, found again by its record, or a new incarnation. Rejects with `StartFailed`. */
export async function openSandbox(context: OpenContext, conversationId: string, options: OpenOptions): Promise<OpenSandbox> {
  const { signal } = options;
  options.onPhase('starting');
  const workspace = await inPhase({ name: 'finding the workspace', deadlineMs: DEADLINE_MS.workspace, signal }, async () => {
    const found = await context.workspaceOf(conversationId);
    if (found === undefined) throw new Error('there is no such conversation');
    return found.hostPath;
  });
  const probe = await inPhase({ name: 'probing the machine', deadlineMs: DEADLINE_MS.probe, signal }, () => context.driver.probe());
  if (!probe.available) throw new StartFailed('probing the machine', { cause: `${probe.reason}. ${probe.fix}` });
  const record = await context.records.get(conversationId);
  if (isThere(record)) {
    const found = await attach(context, record, workspace, probe, options);
    if (found !== undefined) return found;
    await endSandbox(context, record, 'it was found dead');
  }
  return start(context, conversationId, workspace, probe, options);
}

/** The executor of the record, if it is the same process and answers by its name. */
async function attach(
  context: OpenContext,
  record: SandboxRecord,
  workspace: string,
  probe: Probe & { available: true },
  { signal, onPhase }: OpenOptions,
): Promise<OpenSandbox | undefined> {
  if (record.state !== 'live' || record.driver !== context.driver.name || record.workspace !== workspace) return undefined;
  const { handle } = record;
  if (!context.driver.isAlive(handle)) return undefined;
  const client = createExecutorClient(addressOf(context.driver, handle));
  try {
    const alive = await inPhase({ name: 'attaching', deadlineMs: DEADLINE_MS.attach, signal }, (within) =>
      awaitExecutor(client, { socketPath: handle.socketPath, isAlive: () => context.driver.isAlive(handle), signal: within }),
    );
    if (alive.incarnation !== record.incarnation) throw new Error('another executor answers');
    const open = await hold(context, record, handle, client, probe);
    onPhase('ready');
    return open;
  } catch (error) {
    client.close();
    if (signal.aborted) throw error;
    context.notice(`sandbox ${record.incarnation} cannot be attached to: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}

async function start(
  context: OpenContext,
  conversationId: string,
  workspace: string,
  probe: Probe & { available: true },
  { signal, onPhase }: OpenOptions,
): Promise<OpenSandbox> {
  const { records, driver, clock } = context;
  const previous = await records.get(conversationId);
  const plan = context.planOf(conversationId);
  if (plan === undefined) throw new StartFailed('finding the sandbox', { cause: 'it is no more, and no other was asked for' });
  const { incarnation, leaseSeconds, noOutputTimeoutSeconds } = plan;
  const folders = context.folders.of(conversationId, incarnation);
  const record = {
    conversation_id: conversationId,
    driver: driver.name,
    incarnation,
    workspace,
    started_at: clock.now().toISOString(),
    ...(previous && { previous_started_at: previous.started_at }),
    ...(previous?.given_bytes !== undefined && { given_bytes: previous.given_bytes }),
  };
  const lastLines = (): Promise<string> => driver.lastLines?.(incarnation) ?? logTail(startLogOf(folders));
  let client: ExecutorClient | undefined;
  let starting: Promise<SandboxHandle> | undefined;
  const given = givenBytes(context, previous, workspace);
  try {
    // Before anything exists: whatever a crash leaves behind from here on can be found by the incarnation's name.
    await records.put({ ...record, state: 'starting' });
    if (!driver.isElsewhere) context.folders.prepare();
    const gitHosts = context.wayOut.gitHosts(conversationId);
    const network = await context.wayOut.policyOf(conversationId);
    const spec = {
      conversationId,
      incarnation,
      workspace,
      folders,
      leaseSeconds,
      noOutputTimeoutSeconds,
      gitHosts,
      network,
      plugins: context.plugins,
      output: context.output,
    };
    await inPhase({ name: 'getting the image', deadlineMs: DEADLINE_MS.prepare, signal }, async (within) =>
      driver.prepare?.({ signal: within, onProgress: (text) => onPhase('starting', text) }),
    );
    const handle = await inPhase({ name: 'creating the process', deadlineMs: driver.startMs ?? DEADLINE_MS.process, signal }, (within) => {
      starting = driver.start(spec, { signal: within });
      return starting;
    });
    onPhase('started');
    client = createExecutorClient(addressOf(driver, handle));
    const connection = client;
    const alive = await inPhase({ name: 'waiting for the executor', deadlineMs: DEADLINE_MS.executor, signal, lastLines }, (within) =>
      awaitExecutor(connection, { socketPath: handle.socketPath, isAlive: () => driver.isAlive(handle), signal: within }),
    );
    if (alive.incarnation !== incarnation) throw new StartFailed('waiting for the executor', { cause: 'another executor answers' });
    onPhase('workspace');
    const live = { ...record, given_bytes: await given, state: 'live', handle } as const;
    await inPhase({ name: 'recording it', deadlineMs: DEADLINE_MS.record, signal }, () => records.put(live));
    const wasStopped = previous?.state === 'ended' && previous.reason === STOPPED;
    const isLost = handle.isNew === true && previous !== undefined && !wasStopped;
    const open = await hold(context, live, handle, client, probe, isLost ? LOST : undefined);
    onPhase('ready');
    return open;
  } catch (error) {
    client?.close();
    const handle = await settled(starting);
    await endSandbox(
      context,
      handle === undefined ? { ...record, state: 'starting' } : { ...record, state: 'live', handle },
      'it did not start',
    ).catch((failure: unknown) => context.notice(`the rest of sandbox ${incarnation} could not be removed: ${String(failure)}`));
    throw error;
  }
}

/** Kept from the conversation's first sandbox on. Never rejects. */
async function givenBytes({ driver }: OpenContext, previous: SandboxRecord | undefined, workspace: string): Promise<number | null> {
  if (driver.isElsewhere) return null;
  return previous?.given_bytes === undefined ? measureGiven(workspace).catch(() => null) : previous.given_bytes;
}

/** A start that was given up may still be on its way: what it made can only be removed after it. */
function settled(starting: Promise<SandboxHandle> | undefined): Promise<SandboxHandle | undefined> {
  const patience = delay(DEADLINE_MS.settle, undefined, { ref: false });
  return Promise.race([Promise.resolve(starting).catch(() => undefined), patience]);
}

async function hold(
  context: OpenContext,
  record: SandboxRecord & { readonly state: 'live' },
  handle: SandboxHandle,
  client: ExecutorClient,
  probe: Probe & { available: true },
  news?: string,
): Promise<OpenSandbox> {
  const { conversation_id: conversationId, incarnation, previous_started_at: previous } = record;
  const folders = context.folders.of(conversationId, incarnation);
  const ways = { ...context.wayOut.of(conversationId), ...kernelDoor(context, record) };
  const proxy = context.driver.isElsewhere ? undefined : await listenProxy(proxySocketPathOf(folders), ways);
  const browser = await openBrowserDoor(context, record, handle);
  const calls = context.driver.isElsewhere && ways.git ? createCallAnswerer(client, ways.git) : undefined;
  const limits = watchLimits(handle.groups, context.driver.limits);
  const watch = watchSandbox(client, {
    isAlive: () => context.driver.isAlive(handle),
    whyEnded: limits.whyEnded,
    leaseSeconds: context.renewsLease(conversationId) ? context.leaseSeconds : undefined,
    onLine(line) {
      if ('call' in line) calls?.take(line.call);
      if ('watching' in line) void tellNetwork(context, conversationId, handle);
    },
    onChecked: () => void (context.driver.isElsewhere || boundLog(startLogOf(folders))),
  });
  const disk = holdDisk(context, record, { client, giveUp: watch.report });
  void watch.lost.then(disk.stop);
  const runtime = createSandboxRuntime({
    conversationId,
    incarnation,
    strength: probe.strength,
    description: probe.description,
    workspace: handle.workspace ?? '/workspace',
    client,
    patience: context.driver.isElsewhere ? OVER_A_NETWORK : ON_THIS_HOST,
    attachedAt: context.clock.now(),
    previousStartedAt: previous === undefined ? undefined : new Date(previous),
    lost: watch.lost,
    giveUp: watch.report,
    secretsFor: context.secretsFor,
    limits,
    news,
    disk,
  });
  return { ...countUse(runtime, client.ports, context.clock), handle, client, watch, proxy, browser, calls, disk, record };
}

/** What is elsewhere is watched there. */
function holdDisk(
  { driver, folders: plan }: OpenContext,
  { conversation_id: conversationId, incarnation, workspace, given_bytes, handle }: SandboxRecord & { readonly state: 'live' },
  { client, giveUp }: { readonly client: ExecutorClient; readonly giveUp: (reason: string) => void },
): DiskWatch {
  const { home, state } = plan.of(conversationId, incarnation);
  const own = [home, state, ...(handle.rootLayer === undefined ? [] : [handle.rootLayer])];
  const place = { own, workspace, givenBytes: given_bytes ?? null, processes: () => processesOf(handle) };
  return watchDisk({
    limitBytes: driver.isElsewhere ? Infinity : (driver.limits?.diskBytes ?? Infinity),
    measure: () => measureDisk(place),
    freeBytes: () => freeBytes([...own, workspace]),
    endWork: client.endWork,
    giveUp,
    now: () => performance.now(),
  });
}

/** Tells the way out elsewhere what the conversation's policy is now. Told again whenever its host is reached anew. */
export async function tellNetwork(context: OpenContext, conversationId: string, handle: SandboxHandle): Promise<void> {
  const told = context.driver.setNetwork?.(handle, () => context.wayOut.policyOf(conversationId));
  await told?.catch((error: unknown) =>
    context.notice(`the host of the sandbox of conversation ${conversationId} was not told of its network policy: ${messageOf(error)}`),
  );
}

async function openBrowserDoor(
  { driver, folders: plan }: OpenContext,
  { conversation_id: conversationId, incarnation, workspace }: SandboxRecord,
  handle: SandboxHandle,
): Promise<BrowserDoor | undefined> {
  if (driver.startBrowser === undefined) return undefined;
  const folders = plan.of(conversationId, incarnation);
  return listenBrowser(browserSocketPathOf(folders), (wish) => driver.startBrowser!(handle, { incarnation, workspace, folders }, wish));
}

function kernelDoor(
  { kernelPackages: packages, wayOut }: OpenContext,
  { conversation_id: conversationId, handle }: SandboxRecord & { readonly state: 'live' },
): Pick<ProxyOptions, 'kernel'> {
  const folder = handle.kernelPackages;
  if (packages === undefined || folder === undefined) return {};
  const isOnline = async (): Promise<boolean> => !isOffline(await wayOut.policyOf(conversationId));
  return { kernel: createPackagesDoor({ packages, folder, isOnline }) };
}

/**
 * Ends it so that the next start goes on where it was; resolves with why not, when it stays awake. A crash on the way loses nothing:
 * the executor has written everything down before it says so, and until then nothing was ended.
 */
export async function putToSleep(context: OpenContext, open: OpenSandbox, withKernel: boolean): Promise<string | undefined> {
  const answer = await open.client.sleep({ withKernel }).catch((error: unknown) => ({ slept: false, reason: messageOf(error) }) as const);
  if (!answer.slept) return answer.reason;
  open.watch.report('the sandbox went to sleep');
  await letGo(open);
  await endSandbox(context, open.record, 'it was idle', 'asleep');
  return undefined;
}

/** Stops holding on to it, without ending it. */
export async function letGo(open: OpenSandbox): Promise<void> {
  open.watch.stop();
  open.disk.stop();
  open.client.close();
  open.calls?.close();
  await Promise.all([open.proxy?.close(), open.browser?.close()]);
}

/** Ends what the record names and removes its folders; resolves when nothing is left and the record says so. */
export async function endSandbox(
  context: OpenContext,
  record: SandboxRecord,
  reason: string,
  state: 'ended' | 'asleep' = 'ended',
): Promise<void> {
  const { reapers, records, folders } = context;
  await reapers.end(record);
  await folders.removeIncarnation(folders.nameOf(record.conversation_id), record.incarnation);
  const { conversation_id, incarnation, workspace, started_at, previous_started_at, given_bytes } = record;
  const kept = { ...(previous_started_at !== undefined && { previous_started_at }), ...(given_bytes !== undefined && { given_bytes }) };
  await records.put({ conversation_id, driver: record.driver, incarnation, workspace, started_at, ...kept, state, reason });
}
