import { watchDisk, type DiskWatch } from '../disk/disk-watch.ts';
import { createFreeBytes, measureDisk } from '../disk/measure-disk.ts';
import { browserSocketPathOf, proxySocketPathOf, startLogOf, type Probe, type SandboxHandle } from '../drivers/driver.ts';
import type { HeldFolder } from '../workspace/held-folder.ts';
import { boundLog } from '../processes/launch.ts';
import { createPackageProxy } from '../egress/package-proxy.ts';
import { carryEgress } from './carry-egress.ts';
import { createCallAnswerer, type CallAnswerer } from './answer-calls.ts';
import { createQuestionAnswerer, type QuestionAnswerer } from './answer-questions.ts';
import { listenBrowser, type BrowserSidecar } from './browser-sidecar.ts';
import type { ExecutorClient } from './executor-client.ts';
import { listenProxy, type Proxy, type ProxyOptions } from '../egress/listen-proxy.ts';
import { isOffline } from '../egress/network-policy.ts';
import { watchLimits } from './limit-notes.ts';
import { ON_THIS_HOST, OVER_A_NETWORK } from './action-stream.ts';
import { processesOf } from './process-memory.ts';
import type { SandboxContext } from './sandbox-context.ts';
import type { SandboxRecord } from './sandbox-record.ts';
import { createSandboxRuntime, countUse, type CountedUse } from './sandbox-runtime.ts';
import { watchSandbox, type SandboxWatch } from './sandbox-watch.ts';
import { messageOf } from './start-phase.ts';

/** What is noticed of a sandbox. */
interface WatchedSandbox {
  readonly watch: SandboxWatch;
  /** Resolves when the executor refuses an action because another server has the conversation. */
  readonly fenced: Promise<void>;
  readonly disk: DiskWatch;
  /** Its weight in the competition for processors stays as it is. */
  readonly stopWeighing: () => void;
}

/** A sandbox in this server's hands. */
export interface OpenSandbox extends CountedUse, WatchedSandbox {
  readonly handle: SandboxHandle;
  readonly client: ExecutorClient;
  /** Undefined for a remote sandbox, whose host looks after it. */
  readonly workspace: HeldFolder | undefined;
  readonly record: SandboxRecord & { readonly state: 'live' };
  readonly ways: SandboxWays;
}

/** What leads out of it and is served by this process. */
interface SandboxWays {
  /** The egress proxy; none where it is on the host of the sandbox. */
  readonly proxy: Proxy | undefined;
  /** To a browser beside the sandbox, where the driver has that. */
  readonly browser: BrowserSidecar | undefined;
  /** Answers what a remote sandbox asks of this server. */
  readonly calls: CallAnswerer | undefined;
  /** Asks a person for it. */
  readonly questions: QuestionAnswerer | undefined;
}

export interface HeldPlace {
  /** From here on the open sandbox's, to be closed with it. */
  readonly workspace: HeldFolder | undefined;
  readonly probe: Probe & { readonly available: true };
}

/** Takes a live one into this server's hands: what leads out of it, its watch, its runtime. `notice` is added to the next observation. */
export async function holdSandbox(
  context: SandboxContext,
  record: SandboxRecord & { readonly state: 'live' },
  client: ExecutorClient,
  { probe, workspace }: HeldPlace,
  notice?: string,
): Promise<OpenSandbox> {
  const { conversation_id: conversationId, incarnation, handle } = record;
  const folders = context.places.foldersOf(record).of(conversationId, incarnation);
  const ways = await openWays(context, record, client, workspace);
  const limits = watchLimits(handle.groups, context.driver.limits);
  const watch = watchSandbox(client, {
    isAlive: () => context.driver.isAlive(handle),
    whyEnded: limits.whyEnded,
    leaseSeconds: context.renewsLease(conversationId) ? context.leaseSeconds : undefined,
    onLine(line) {
      if ('call' in line) ways.calls?.take(line.call);
      if ('question' in line) ways.questions?.take(line.question);
      if ('watching' in line) void sendNetwork(context, conversationId, handle);
    },
    onChecked() {
      if (context.driver.remote === undefined) boundLog(startLogOf(folders));
      if (context.renewsLease(conversationId)) void extendLease(context, record);
    },
  });
  const disk = holdDisk(context, record, { client, giveUp: watch.report, held: workspace });
  // The groups of a container are its engine's.
  const stopWeighing = context.weights.watch(handle.container === undefined ? handle.groups : []);
  void watch.lost.then(() => disk.stop());
  void watch.lost.then(stopWeighing);
  const fenced = Promise.withResolvers<void>();
  const runtime = createSandboxRuntime({
    conversationId,
    incarnation,
    strength: probe.strength,
    description: probe.description,
    workspace: handle.workspace ?? '/workspace',
    isReadOnly: record.read_only === true,
    client,
    retries: context.driver.remote ? OVER_A_NETWORK : ON_THIS_HOST,
    lost: watch.lost,
    giveUp: watch.report,
    onFenced: fenced.resolve,
    secretsFor: context.secretsFor,
    limits,
    notice,
    disk,
  });
  return {
    ...countUse(runtime, client.ports, context.clock),
    handle,
    client,
    watch,
    fenced: fenced.promise,
    disk,
    stopWeighing,
    workspace,
    record,
    ways,
  };
}

async function openWays(
  context: SandboxContext,
  record: SandboxRecord & { readonly state: 'live' },
  client: ExecutorClient,
  workspace: HeldFolder | undefined,
): Promise<SandboxWays> {
  const { conversation_id: conversationId, incarnation, handle } = record;
  const sending = () => sendNetwork(context, conversationId, handle);
  const ask = context.egress.askPerson;
  const { remote } = context.driver;
  const options = { ...context.egress.of(conversationId), ...packageProxy(context, record) };
  const socketPath = proxySocketPathOf(context.places.foldersOf(record).of(conversationId, incarnation));
  return {
    proxy: remote === undefined ? await listenProxy(socketPath, options) : remote.proxy ? undefined : carryEgress(client, options),
    browser: await openBrowserSidecar(context, record, workspace),
    calls: remote?.proxy && options.git ? createCallAnswerer(client, options.git) : undefined,
    questions: remote?.proxy && createQuestionAnswerer({ client, ask, conversationId, sendNetwork: sending }),
  };
}

/** The host of a remote sandbox watches its disk. */
function holdDisk(
  { driver, places }: SandboxContext,
  record: SandboxRecord & { readonly state: 'live' },
  {
    client,
    giveUp,
    held,
  }: { readonly client: ExecutorClient; readonly giveUp: (reason: string) => void; readonly held: HeldFolder | undefined },
): DiskWatch {
  const { conversation_id: conversationId, incarnation, workspace, given_bytes, handle } = record;
  const { home, state } = places.foldersOf(record).of(conversationId, incarnation);
  const own = [home, state, ...(handle.rootLayer === undefined ? [] : [handle.rootLayer])];
  const place = () => ({ own, workspace: held?.place ?? workspace, givenBytes: given_bytes ?? null, processes: () => processesOf(handle) });
  return watchDisk({
    limitBytes: driver.remote ? Infinity : (driver.limits?.diskBytes ?? Infinity),
    measure: async () => measureDisk(place()),
    freeBytes: createFreeBytes(() => [...own, place().workspace]),
    endWork: client.endWork,
    giveUp,
    now: () => performance.now(),
  });
}

/** Where more than the executor ends it when no server is left. */
async function extendLease(
  { driver, leaseSeconds, notice }: SandboxContext,
  { handle, incarnation }: SandboxRecord & { readonly state: 'live' },
): Promise<void> {
  await driver
    .extendLease?.(handle, leaseSeconds)
    .catch((error: unknown) => notice(`the lease of sandbox ${incarnation} was not extended: ${messageOf(error)}`));
}

/** Sends the conversation's policy to a remote egress proxy; again whenever its host is reached anew. */
export async function sendNetwork(context: SandboxContext, conversationId: string, handle: SandboxHandle): Promise<void> {
  const sent = context.driver.remote?.proxy?.setNetwork(handle, () => context.egress.policyOf(conversationId));
  await sent?.catch((error: unknown) =>
    context.notice(`the host of the sandbox of conversation ${conversationId} did not get its network policy: ${messageOf(error)}`),
  );
}

async function openBrowserSidecar(
  { driver, places }: SandboxContext,
  record: SandboxRecord & { readonly state: 'live' },
  held: HeldFolder | undefined,
): Promise<BrowserSidecar | undefined> {
  if (driver.startBrowser === undefined) return undefined;
  const { conversation_id: conversationId, incarnation, workspace, handle, read_only } = record;
  const folders = places.foldersOf(record).of(conversationId, incarnation);
  const place = { incarnation, workspace, held, isReadOnly: read_only === true, folders };
  return listenBrowser(browserSocketPathOf(folders), (request) => driver.startBrowser!(handle, place, request));
}

function packageProxy(
  { kernelPackages: packages, egress }: SandboxContext,
  { conversation_id: conversationId, handle }: SandboxRecord & { readonly state: 'live' },
): Pick<ProxyOptions, 'kernel'> {
  const folder = handle.kernelPackages;
  if (packages === undefined || folder === undefined) return {};
  const isOnline = async (): Promise<boolean> => !isOffline(await egress.policyOf(conversationId));
  return { kernel: createPackageProxy({ packages, folder, isOnline }) };
}
