/** The only place where objects are wired together, in order of dependence. */
import type { AgentState } from '@tendon/protocol';
import { join } from 'node:path';
import { KeyedSemaphore, type Clock, type Scheduler } from '@tendon/core';
import type { UpgradeProgress } from '@tendon/core/storage';
import { createSandboxPool, type ReachedHost, type ReachedStore, type SandboxPool } from '@tendon/runtime';
import type { Audit } from '../audit/audit.ts';
import { pruneWsSessions } from '../compat/opendevin/sockets/ws-sessions.ts';
import { ConversationRegistry } from '../conversations/conversation-registry.ts';
import type { StoredConversation } from '../conversations/conversation-records.ts';
import { Conversations } from '../conversations/conversations.ts';
import { networkPolicy } from '../conversations/network/conversation-network.ts';
import { fairTurns } from '../conversations/fair-turns.ts';
import { confirmationOf } from '../conversations/confirmation/confirmation-of.ts';
import { EventSearch } from '../events/event-search.ts';
import { gitAccess } from '../git-providers/git-access.ts';
import type { Config } from '../platform/config/config.ts';
import type { OwnedBy } from '../platform/auth/own-scope.ts';
import { idlePlan } from '../platform/config/sandbox-config.ts';
import { createLogger, type Logger } from '../platform/logger.ts';
import { Measures } from '../observability/measures.ts';
import type { Tracing } from '../observability/tracing/tracing.ts';
import { openQuotas, type OpenedQuotas } from '../limits/open-quotas.ts';
import { SandboxParties } from '../limits/sandbox-parties.ts';
import { LoopWatch } from '../platform/loop-watch.ts';
import { makeHome } from '../platform/make-home.ts';
import { Readiness } from '../platform/readiness.ts';
import { useUpstreamProxy } from '../platform/use-upstream-proxy.ts';
import { Pushes } from '../push/pushes.ts';
import { VERSION } from '../platform/version.ts';
import { announcePorts } from '../previews/announce-ports.ts';
import { openDriver } from '../sandboxes/open-driver.ts';
import { waitOf } from '../sandboxes/wait-for-hosts.ts';
import { makeWorkspaceBase } from '../sandboxes/workspace-folder.ts';
import { namedSecrets, secretsForAction } from '../secrets/secrets-for-action.ts';
import { DeliveryStore } from '../triggers/delivery-store.ts';
import type { Erasures, ErasuresOptions } from '../erasure/erasures.ts';
import type { Retention } from '../retention/retention.ts';
import { Triggers } from '../triggers/triggers.ts';
import { KnownModels } from '../settings/known-models.ts';
import { askTitle, composeConversation, type Around } from './compose-conversation.ts';
import type { Engine } from './engine.ts';
import { modelPorts, modelsFor } from './model-ports.ts';
import { knownSecrets, openStores, type Foundation } from './open-stores.ts';

/** More of them do not get more done, and clients wait longer. */
const TURNS_PER_ROUND = 2;

/** What can make a start take minutes. */
interface StartListeners {
  /** Called repeatedly with the progress while the store of an earlier version is upgraded. */
  readonly onUpgrade?: (progress: UpgradeProgress) => void;
  /** Called once when the database does not answer, which is then waited for. Default: it is refused. */
  readonly onOutage?: () => void;
  /** The same of executor hosts. */
  readonly onHostsAway?: () => void;
}

export interface ComposeOptions extends StartListeners {
  readonly clock: Clock;
  /** Default: lines on stderr at the configured level. */
  readonly logger?: Logger;
  /** Notified of what begins in the event loop; the caller starts it. */
  readonly loop?: LoopWatch;
  /** Counts what the engine does. */
  readonly measures?: Measures;
  /** How long a connection of a sandbox waits for a person's answer. */
  readonly questionWaitMs?: number;
  readonly around?: Around;
}

export interface ComposedEngine extends Engine {
  readonly logger: Logger;
}

interface Observing {
  readonly measures: Measures;
  readonly tracing: Tracing | undefined;
  readonly audit: Audit | undefined;
  readonly readiness: Readiness;
  readonly limits: OpenedQuotas;
  readonly pushes: Pushes;
}

/** Everything but HTTP and sockets. Rejects with a user-facing Error when storage or sandbox cannot be opened. */
export async function composeEngine(config: Config, options: ComposeOptions): Promise<ComposedEngine> {
  const { clock, measures = new Measures() } = options;
  // First of all, as it waits for programs while the rest is busy.
  const driving = openDriver(config, waitOf(config, options));
  driving.catch(() => undefined);
  // Hosts may be away for minutes, and a server that has opened its stores is one that others send conversations to.
  if (config.runtime === 'remote') await driving;
  await makeHome(config.home);
  await makeWorkspaceBase(config);
  // Damage is found before there is a logger, whose mask needs the stores: it is reported when there is one.
  const logged = Promise.withResolvers<Logger>();
  const stores = await openStores(config, { ...options, onFinding: (finding) => void logged.promise.then((to) => to.warn(finding)) });
  const logger = options.logger ?? createLogger({ level: config.logLevel, mask: stores.mask });
  logged.resolve(logger);
  const driver = await driving.catch(async (cause: unknown) => {
    await stores.storage.close();
    throw cause;
  });
  const leaveProxy = config.upstreamProxy ? useUpstreamProxy(config.upstreamProxy) : () => undefined;
  const foundation: Foundation = { ...stores, config, clock, logger, driver };
  const registry = createRegistry(foundation, options.questionWaitMs);
  const runtimes = createSandboxes(foundation, registry);
  const places = new KeyedSemaphore(config.maxModelRequests);
  const eventSearch = createEventSearch(foundation);
  const observing = await openObservers(foundation, measures, runtimes, registry);
  const { tracing, audit, readiness, limits } = observing;
  const conversations = createConversations({ ...foundation, eventSearch }, registry, runtimes, places, { ...options, ...observing });
  measures.watch({ places, states: () => statesOf(registry), others: [audit, limits.quotas] });
  const unasked = await openUnasked(foundation, conversations, observing);
  const knownModels = new KnownModels({ ...foundation, places });
  return {
    ...stores,
    clock,
    logger,
    tracing,
    audit,
    quotas: limits.quotas,
    runtimes,
    conversations,
    eventSearch,
    readiness,
    ...unasked,
    scheduler: stores.storage.scheduler,
    sandbox: driver.sandbox,
    secrets: knownSecrets(config, stores),
    ...modelPorts(foundation, conversations, knownModels),
    wake: async () => (await audit?.begin(), limits.start(), wake(foundation, runtimes, conversations, unasked)),
    ...leaving(foundation, conversations, unasked),
    close: async (how) => {
      knownModels.close();
      await closeUnasked(unasked);
      await conversations.close();
      await eventSearch.close();
      await runtimes.close(how);
      await stores.traits.close();
      await limits.close();
      await audit?.close();
      await stores.storage.close();
      await tracing?.close();
      leaveProxy();
    },
  };
}

/** Tracing and the audit log are loaded by servers that have one. */
async function openObservers(
  foundation: Foundation,
  measures: Measures,
  runtimes: SandboxPool,
  registry: ConversationRegistry,
): Promise<Observing> {
  const { storage, access, config, ...rest } = foundation;
  const { tracing: sent, governance, databaseUrl } = config;
  const tracing = sent && (await import('../observability/tracing/open-tracing.ts')).openTracing(sent, rest);
  const parts = { ...rest, records: storage.records, keys: access.keys, version: VERSION };
  const audit = governance.audits ? (await import('../audit/open-audit.ts')).openAudit(parts) : undefined;
  const sandboxes = new SandboxParties((id) => runtimes.current(id) !== undefined);
  const limits = await openQuotas({ ...parts, config: governance.limits, sandboxes, isShared: databaseUrl !== undefined });
  const pushes = createPushes(foundation, registry);
  return { measures, tracing, audit, limits, pushes, readiness: new Readiness(storage, rest.clock) };
}

async function openUnasked(foundation: Foundation, conversations: Conversations, { audit, limits, pushes }: Observing): Promise<Unasked> {
  const triggers = createTriggers(foundation, conversations);
  const retention = await openRetention(foundation, conversations, audit);
  const erasures = await openErasures(foundation, { conversations, triggers, audit, limits: limits.quotas.store });
  return { triggers, retention, erasures, pushes };
}

async function closeUnasked({ triggers, retention, erasures, pushes }: Unasked): Promise<void> {
  await Promise.all([retention?.close(), erasures?.close(), triggers.close(), pushes.close()]);
}

/** Only where the configuration says how long conversations stay. */
async function openRetention(
  { config, storage, ...rest }: Foundation,
  conversations: Conversations,
  audit: Audit | undefined,
): Promise<Retention | undefined> {
  const { retentionDays: days } = config.governance;
  if (days === undefined) return undefined;
  const { Retention } = await import('../retention/retention.ts');
  const { records, scheduler } = storage;
  return new Retention({ ...rest, records, scheduler, conversations, audit, days, isShared: config.databaseUrl !== undefined });
}

/** Only where there are users. */
async function openErasures(
  { access, storage, ...rest }: Foundation,
  parts: Pick<ErasuresOptions, 'conversations' | 'triggers' | 'audit' | 'limits'>,
): Promise<Erasures | undefined> {
  const { users } = access;
  if (!users) return undefined;
  const { Erasures } = await import('../erasure/erasures.ts');
  return new Erasures({ ...rest, ...parts, access, users, records: storage.records, scheduler: storage.scheduler });
}

/** Of the agents of open conversations. */
function* statesOf({ open }: ConversationRegistry): Iterable<AgentState> {
  for (const { conversation } of open.values()) yield conversation.state.agentState;
}

function createRegistry({ driver, settings, ...foundation }: Foundation, questionWaitMs: number | undefined): ConversationRegistry {
  const { network, sandbox } = driver;
  return new ConversationRegistry({
    ...foundation,
    network: { network, isPoliced: sandbox.isPoliced, settings: () => settings.network },
    allowAlways: (host) => settings.allowHost(host),
    ...(questionWaitMs !== undefined && { questionWaitMs }),
  });
}

function createPushes({ config, ...foundation }: Foundation, { records, questions }: ConversationRegistry): Pushes {
  const { upstreamProxy, network, governance } = config;
  const dialling = { upstreamProxy, allowPrivate: network.allowPrivate };
  const pushes = new Pushes({ ...foundation, devices: foundation.pushDevices, records, dialling, contact: governance.pushContact });
  questions.listen((id) => pushes.look(id));
  return pushes;
}

/** What sandboxes reached, by conversation. */
const REACHED = 'reached';

function reachedIn({ records }: Foundation['storage']): ReachedStore {
  return {
    read: async (id) => (await records.get<readonly ReachedHost[]>(REACHED, id)) ?? [],
    async write(id, places) {
      if (places.length === 0) await records.delete(REACHED, id);
      else await records.put(REACHED, { id, sort: '', value: places });
    },
  };
}

/** Beside others, a server does nothing for the sandboxes of their conversations. */
function ownersBy(scheduler: Scheduler) {
  if (!scheduler.self) return {};
  const epochOf = (id: string): number => scheduler.epochOf(id);
  const mayTouch = async (id: string): Promise<boolean> => (await scheduler.find(id)).at !== 'peer';
  return { owners: { has: (id: string) => epochOf(id) > 0, mayTouch, epochOf } };
}

/** Whose a conversation is; without users nobody is asked. */
function ownersOf({ config }: Foundation, registry: ConversationRegistry): (id: string) => Promise<OwnedBy> {
  return async (id) => (config.oidc ? ((await registry.records.get(id)) ?? {}) : {});
}

function createSandboxes(foundation: Foundation, registry: ConversationRegistry): SandboxPool {
  const { config, clock, logger, storage, ownedSecrets, gitAccounts, boundSecrets } = foundation;
  const ownerOf = ownersOf(foundation, registry);
  const { driver, otherReapers, network } = foundation.driver;
  return createSandboxPool({
    records: storage.records,
    driver,
    otherReapers,
    ...ownersBy(storage.scheduler),
    stateRoot: join(config.home, 'sandboxes'),
    workspaceOf: (id) => registry.workspaceOf(id),
    clock,
    onNotice: (notice) => logger.info(notice),
    idlePlan: idlePlan(config.sandbox),
    plugins: config.sandbox.plugins,
    checkpoints: config.sandbox.checkpoints,
    output: config.sandbox.output,
    noOutputTimeoutSeconds: config.sandbox.noOutputSeconds,
    onSuspended: (id) => registry.announceSuspended(id),
    ...(config.upstreamProxy && { upstreamProxy: config.upstreamProxy }),
    networkOf: (id) => registry.networkOf(id),
    oneOffNetwork: async () => networkPolicy(registry.networkRules, undefined),
    askPerson: (id, place) => registry.questions.ask(id, place),
    reached: reachedIn(storage),
    registries: network,
    git: (id) => gitAccess(async () => gitAccounts.of(await ownerOf(id))),
    boundSecrets: async (id) => boundSecrets(await ownerOf(id)),
    secretsFor: async (action, id) => {
      const owner = await ownerOf(id);
      return secretsForAction(action, namedSecrets(ownedSecrets.of(owner), gitAccounts.of(owner)));
    },
  });
}

function createConversations(
  foundation: Foundation & Pick<Engine, 'eventSearch'>,
  registry: ConversationRegistry,
  runtimes: SandboxPool,
  places: KeyedSemaphore,
  { loop = new LoopWatch(), around = {}, measures, tracing, audit, readiness, limits, pushes }: ComposeOptions & Observing,
): Conversations {
  const { access, mcpServers } = foundation;
  const fairly = fairTurns(TURNS_PER_ROUND);
  const chooses = (record: StoredConversation) => modelsFor(record, foundation);
  const conversations = new Conversations({
    ...foundation,
    registry,
    runtimes,
    audit,
    draining: readiness,
    quotas: limits.quotas,
    copyWorkspace: async ({ id, workspace }, signal) => {
      await runtimes.copyWorkspace(id, { checkpoint: undefined, name: id, target: workspace, signal });
    },
    usualAgent: () => foundation.settings.current?.agent ?? undefined,
    policyOf: (record) => confirmationOf(record, [], foundation.settings.current, foundation.config),
    releaseSandbox: (id) => runtimes.release(id),
    onWoken: (id) => pushes.look(id),
    onErase: async (id) => {
      mcpServers.forget(id);
      await access.shares.revokeThose(({ conversation }) => conversation === id);
    },
    title: (record, task, signal) =>
      askTitle(record, task, signal, { ...foundation, runtimes, places, chooses, measures, quotas: limits.quotas }),
    onLooked: (open) => announcePorts(open, () => runtimes.ports(open.conversation.id)),
    open: (record, all) =>
      composeConversation(record, {
        ...foundation,
        secretStore: foundation.ownedSecrets.of(record),
        providerTokens: foundation.gitAccounts.of(record),
        registry,
        runtimes,
        conversations: all,
        around,
        chooses,
        places,
        quotas: limits.quotas,
        fairly,
        loop,
        measures,
        tracing,
        pushes,
      }),
  });
  pushes.begin(conversations);
  return conversations;
}

function createEventSearch({ storage, clock, logger }: Foundation): EventSearch {
  const onProblem = (cause: unknown): void => logger.warn({ err: cause }, 'the index of events fails: searches read the logs');
  return new EventSearch({ storage, clock, version: VERSION, onProblem });
}

function createTriggers(foundation: Foundation, conversations: Conversations): Triggers {
  const { storage, jwtSecret, triggerStore: store } = foundation;
  return new Triggers({ ...foundation, store, deliveries: new DeliveryStore(storage.records, jwtSecret), conversations });
}

/** What works on conversations without being asked. */
interface Unasked {
  readonly triggers: Triggers;
  readonly retention: Retention | undefined;
  readonly erasures: Erasures | undefined;
  readonly pushes: Pushes;
}

/** How it goes while others stay. */
function leaving({ storage: { scheduler } }: Foundation, { moving }: Conversations, unasked: Unasked): Pick<Engine, 'retire' | 'handOver'> {
  return {
    retire: async () => void (await Promise.all([scheduler.self && scheduler.retire(), closeUnasked(unasked)])),
    handOver: async (signal) => scheduler.self && moving.drain(signal),
  };
}

async function wake(
  { storage, clock, logger }: Foundation,
  runtimes: SandboxPool,
  conversations: Conversations,
  { triggers, retention, erasures }: Unasked,
): Promise<void> {
  // Conversations do not wait until the sandboxes of an earlier server are sorted out.
  await Promise.all([runtimes.reconcile(), conversations.wakeActive(), triggers.start()]);
  retention?.start();
  erasures?.start();
  // Nobody waits for these.
  const swept = await storage.sweep();
  const pruned = await pruneWsSessions(storage.records, clock.now());
  if (swept + pruned > 0) logger.info(`${swept} files of no conversation and ${pruned} sessions of old clients were removed`);
}
