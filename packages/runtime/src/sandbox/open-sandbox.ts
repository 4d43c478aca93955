import { setTimeout as delay } from 'node:timers/promises';
import type { StartPhase } from '@tendon/core';
import { addressOf, type SandboxHandle, type SandboxSpec } from '../drivers/driver.ts';
import type { ExecutorAddress } from '../transport/executor-connection.ts';
import type { HeldFolder } from '../workspace/held-folder.ts';
import { measureGiven } from '../disk/measure-disk.ts';
import { createExecutorClient, type ExecutorClient, awaitExecutor } from './executor-client.ts';
import { endSandbox, lastLines, logLastLines } from './end-sandbox.ts';
import { addressIn, findPlace, workspaceIdentity, type Place } from './find-place.ts';
import { holdSandbox, type OpenSandbox } from './hold-sandbox.ts';
import { isSpoken, retireSandbox } from './retire-sandbox.ts';
import type { SandboxContext, SandboxPlan } from './sandbox-context.ts';
import { isThere, type SandboxHost, type SandboxRecord } from './sandbox-record.ts';
import { NEVER_STARTED, REMOUNTED, startNotice } from './start-notice.ts';
import { inPhase, StartFailed } from './start-phase.ts';

export interface OpenOptions {
  readonly signal: AbortSignal;
  /** Aborted when the actions of an executor of another version need not be waited for. */
  readonly unwanted?: AbortSignal;
  /** `detail` = what it is at just now, where that takes long. */
  readonly onPhase: (phase: StartPhase, detail?: string) => void;
  /** Runs a start when there is capacity for one more. Attaching to a living sandbox does not need it. */
  readonly admit: <T>(start: () => Promise<T>) => Promise<T>;
}

const DEADLINE_MS = {
  host: 15_000,
  prepare: 15 * 60_000,
  process: 20_000,
  executor: 20_000,
  settle: 5000,
  attach: 10_000,
  record: 10_000,
} as const;

/** The conversation's sandbox: the one that lives, found again by its record, or a new incarnation. Rejects with `StartFailed`. */
export async function openSandbox(context: SandboxContext, conversationId: string, options: OpenOptions): Promise<OpenSandbox> {
  options.onPhase('starting');
  const record = await context.records.get(conversationId);
  const place = await findPlace(context, conversationId, record, options.signal);
  try {
    if (isThere(record) && context.places.reaches(record)) {
      const found = await attach(context, record, place, options.signal);
      if (found !== undefined && 'open' in found) {
        options.onPhase('ready');
        return found.open;
      }
      if (found) await retire(context, record, found.outdated, options);
      else {
        await logLastLines(context, record);
        const isOther = isMountedOtherwise(record, place);
        await endSandbox(context, record, record.state === 'starting' ? NEVER_STARTED : isOther ? REMOUNTED : 'it was found dead');
      }
    }
    return await options.admit(() => start(context, conversationId, place, options));
  } catch (error) {
    place.held?.close();
    throw error;
  }
}

/** The conversation's sandbox if it lives; nothing is started, and nothing is ended. Rejects with `StartFailed`. */
export async function attachSandbox(
  context: SandboxContext,
  conversationId: string,
  signal: AbortSignal,
): Promise<OpenSandbox | undefined> {
  const record = await context.records.get(conversationId);
  const place = await findPlace(context, conversationId, record, signal);
  let open: OpenSandbox | undefined;
  try {
    const found = isThere(record) ? await attach(context, record, place, signal) : undefined;
    if (found !== undefined && 'outdated' in found) found.outdated.close();
    else open = found?.open;
    return open;
  } finally {
    if (open === undefined) place.held?.close();
  }
}

/** `outdated`: the executor that answers shares no version with this server. */
type Found = { readonly open: OpenSandbox } | { readonly outdated: ExecutorClient } | undefined;

/** The executor of the record, if it is the same process and answers by its name. */
async function attach(context: SandboxContext, record: SandboxRecord, place: Place, signal: AbortSignal): Promise<Found> {
  if (record.state !== 'live' || record.driver !== context.driver.name || record.workspace !== place.workspace) return undefined;
  if (isMountedOtherwise(record, place)) return undefined;
  const { handle } = record;
  if (!context.reapers.isAlive(record)) return undefined;
  const client = createExecutorClient(executorOf(context, record.conversation_id, handle));
  try {
    const alive = await inPhase({ name: 'attaching', deadlineMs: DEADLINE_MS.attach, signal }, (within) =>
      awaitExecutor(client, { socketPath: handle.socketPath, isAlive: () => context.driver.isAlive(handle), signal: within }),
    );
    if (alive.incarnation !== record.incarnation) throw new Error('another executor answers');
    if (!isSpoken(alive.protocol)) return { outdated: client };
    return { open: await holdSandbox(context, record, client, { probe: place.probe, workspace: place.held }) };
  } catch (error) {
    client.close();
    if (signal.aborted) throw error;
    context.notice(`sandbox ${record.incarnation} cannot be attached to: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}

/** A server was killed between the request for another mount and the end of the sandbox that has this one. */
function isMountedOtherwise({ read_only }: SandboxRecord, { isReadOnly }: Place): boolean {
  return (read_only === true) !== isReadOnly;
}

async function retire(
  context: SandboxContext,
  record: SandboxRecord,
  client: ExecutorClient,
  { signal, unwanted, onPhase }: OpenOptions,
): Promise<void> {
  onPhase('starting', 'waiting for what another version of Tendon has begun in the sandbox');
  try {
    await retireSandbox(context, record, { client, signal, unwanted });
  } finally {
    client.close();
  }
}

async function start(
  context: SandboxContext,
  conversationId: string,
  place: Place,
  { signal, onPhase }: OpenOptions,
): Promise<OpenSandbox> {
  const { records, driver, clock, places } = context;
  const previous = await records.get(conversationId);
  const folders = places.foldersOf(previous);
  const plan = context.planOf(conversationId);
  if (plan === undefined) throw new StartFailed('finding the sandbox', { cause: 'it is no more, and no other was asked for' });
  const host = await hostOf(context, conversationId, { previous, isReadOnly: place.isReadOnly, signal });
  const record = {
    conversation_id: conversationId,
    driver: driver.name,
    incarnation: plan.incarnation,
    workspace: place.workspace,
    started_at: clock.now().toISOString(),
    ...(previous?.given_bytes !== undefined && { given_bytes: previous.given_bytes }),
    ...(place.isReadOnly && { read_only: true as const }),
    ...(host && { host }),
    ...(place.held && { workspace_is: workspaceIdentity(place.held) }),
  };
  let client: ExecutorClient | undefined;
  let starting: Promise<SandboxHandle> | undefined;
  const given = givenBytes(place.held, previous);
  try {
    // Before anything exists: whatever a crash leaves behind from here on can be found by the incarnation's name.
    await records.put({ ...record, state: 'starting' });
    if (driver.remote === undefined) folders.prepare(plan.incarnation);
    const spec = await specOf(context, record, place, plan);
    await inPhase({ name: 'getting the image', deadlineMs: DEADLINE_MS.prepare, signal }, async (within) =>
      driver.prepare?.({ signal: within, onProgress: (text) => onPhase('starting', text) }),
    );
    const creating = { name: 'creating the process', deadlineMs: driver.startMs ?? DEADLINE_MS.process, signal };
    const handle = await inPhase({ ...creating, lastLines: () => lastLines(context, record, undefined) }, (within) => {
      starting = driver.start(spec, { signal: within, onProgress: (text) => onPhase('starting', text) });
      return starting;
    });
    onPhase('started');
    client = await reachExecutor(context, record, handle, signal);
    onPhase('workspace');
    const live = { ...record, given_bytes: await given, state: 'live', handle } as const;
    await inPhase({ name: 'recording it', deadlineMs: DEADLINE_MS.record, signal }, () => records.put(live));
    const held = { probe: place.probe, workspace: place.held };
    const open = await holdSandbox(context, live, client, held, startNotice(previous, handle, isLeft(context, previous)));
    onPhase('ready');
    return open;
  } catch (error) {
    client?.close();
    await undoStart(context, { record, previous, handle: await settled(starting) });
    throw error;
  }
}

interface FailedStart {
  readonly record: Omit<SandboxRecord & { readonly state: 'starting' }, 'state'>;
  readonly previous: SandboxRecord | undefined;
  readonly handle: SandboxHandle | undefined;
}

/** Ends what has begun. A host that was chosen for this start and began nothing is not the conversation's: the next start chooses again. */
async function undoStart(context: SandboxContext, { record, previous, handle }: FailedStart): Promise<void> {
  const left = handle === undefined ? ({ ...record, state: 'starting' } as const) : ({ ...record, state: 'live', handle } as const);
  const isOfHost = record.host?.kind !== 'address' || addressIn(context, previous) !== undefined || handle !== undefined;
  try {
    await endSandbox(context, left, NEVER_STARTED);
    // Another server may have taken the conversation over, and have begun a sandbox.
    const newest = isOfHost ? undefined : await context.records.get(record.conversation_id);
    if (newest?.incarnation !== record.incarnation) return;
    await (previous ? context.records.put(previous) : context.records.delete(record.conversation_id));
  } catch (failure) {
    context.notice(`the rest of sandbox ${record.incarnation} could not be removed: ${String(failure)}`);
  }
}

/** Another machine, or a host that this server is no longer configured with, has what was the conversation's until now. */
function isLeft({ places }: SandboxContext, previous: SandboxRecord | undefined): boolean {
  return previous !== undefined && !places.reaches(previous);
}

/** Where it is to be: a conversation that has a host stays there. None where the driver has one place only, which it knows itself. */
async function hostOf(
  context: SandboxContext,
  conversationId: string,
  {
    previous,
    isReadOnly,
    signal,
  }: { readonly previous: SandboxRecord | undefined; readonly isReadOnly: boolean; readonly signal: AbortSignal },
): Promise<SandboxHost | undefined> {
  const { driver, places, egress } = context;
  if (driver.remote === undefined) return places.hostOf(places.foldersOf(previous));
  const stays = addressIn(context, previous);
  if (stays !== undefined) return { kind: 'address', name: stays };
  const { place } = driver.remote;
  if (place === undefined) return undefined;
  const network = await egress.policyOf(conversationId);
  const name = await inPhase({ name: 'choosing a host', deadlineMs: DEADLINE_MS.host, signal }, (within) =>
    place({ conversationId, network, isReadOnly, signal: within }),
  );
  return { kind: 'address', name };
}

/** How to speak with the executor of a conversation, as its owner. */
function executorOf({ driver, owners }: SandboxContext, conversationId: string, handle: SandboxHandle): ExecutorAddress {
  return { ...addressOf(driver, handle), ownerEpoch: () => owners.epochOf(conversationId) };
}

async function specOf(
  { places, owners, egress, plugins, checkpoints, output }: SandboxContext,
  { conversation_id: conversationId, host }: Pick<SandboxRecord, 'conversation_id' | 'host'>,
  { workspace, held, isReadOnly }: Place,
  plan: SandboxPlan,
): Promise<SandboxSpec> {
  return {
    conversationId,
    ...plan,
    workspace,
    held,
    isReadOnly,
    folders: places.foldersOf({ ...(host && { host }) }).of(conversationId, plan.incarnation),
    gitHosts: await egress.gitHosts(conversationId),
    network: await egress.policyOf(conversationId),
    ...(host?.kind === 'address' && { host: host.name }),
    ownerEpoch: owners.epochOf(conversationId),
    plugins,
    checkpoints,
    output,
  };
}

/** The executor of a process that was started just now; rejects when it does not answer in time, or is not the one that was meant. */
async function reachExecutor(
  context: SandboxContext,
  record: Pick<SandboxRecord, 'conversation_id' | 'incarnation' | 'host'>,
  handle: SandboxHandle,
  signal: AbortSignal,
): Promise<ExecutorClient> {
  const { driver } = context;
  const name = 'waiting for the executor';
  const lines = (): Promise<string> => lastLines(context, record, handle);
  const client = createExecutorClient(executorOf(context, record.conversation_id, handle));
  try {
    const alive = await inPhase({ name, deadlineMs: DEADLINE_MS.executor, signal, lastLines: lines }, (within) =>
      awaitExecutor(client, { socketPath: handle.socketPath, isAlive: () => driver.isAlive(handle), signal: within }),
    );
    if (alive.incarnation !== record.incarnation) throw new StartFailed(name, { cause: 'another executor answers' });
    if (!isSpoken(alive.protocol)) throw new StartFailed(name, { cause: 'it is of another version than this server: install Tendon anew' });
    return client;
  } catch (error) {
    client.close();
    throw error;
  }
}

/** Stored from the conversation's first sandbox on. Never rejects. */
async function givenBytes(held: HeldFolder | undefined, previous: SandboxRecord | undefined): Promise<number | null> {
  if (held === undefined) return null;
  return previous?.given_bytes === undefined ? measureGiven(held.place).catch(() => null) : previous.given_bytes;
}

/** A start that was given up may still be on its way: what it made can only be removed after it. */
function settled(starting: Promise<SandboxHandle> | undefined): Promise<SandboxHandle | undefined> {
  const deadline = delay(DEADLINE_MS.settle, undefined, { ref: false });
  return Promise.race([Promise.resolve(starting).catch(() => undefined), deadline]);
}
