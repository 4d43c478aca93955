/** The only place where objects are wired together. */
import { join } from 'node:path';
import { agentNames, createMask, KeyedSemaphore, type Clock, type EventLog, type Runtimes, type Secret, type Storage } from '@tendon/core';
import type { UpgradeProgress } from '@tendon/core/storage';
import { createRuntimes, type SandboxRuntimes } from '@tendon/runtime';
import { composeConversation } from './compose-conversation.ts';
import type { Config } from '../platform/config/config.ts';
import type { StoredConversation } from '../conversations/conversation-records.ts';
import { Conversations } from '../conversations/conversations.ts';
import { fairTurns } from '../conversations/fair-turns.ts';
import type { Engine } from './engine.ts';
import { EventSearch } from '../events/event-search.ts';
import { gitAccess } from '../git-providers/git-access.ts';
import { ProviderTokens } from '../git-providers/provider-tokens.ts';
import { createLogger, type Logger } from '../platform/logger.ts';
import { chooseModel, type ModelChoice } from '../settings/model-choice.ts';
import { ConversationToolServers } from '../mcp/conversation-tool-servers.ts';
import { secretsOfMcp } from '../settings/mcp-keys.ts';
import { LoopWatch } from '../platform/loop-watch.ts';
import { makeHome } from '../platform/make-home.ts';
import { useUpstreamProxy } from '../platform/use-upstream-proxy.ts';
import { openDriver } from '../sandboxes/open-driver.ts';
import { announcePorts } from '../previews/announce-ports.ts';
import { openAccessBooks } from '../platform/auth/access-books.ts';
import { keptSecret } from '../platform/auth/kept-secret.ts';
import { liveMask } from '../platform/auth/live-mask.ts';
import { restPlan } from '../platform/config/sandbox-config.ts';
import { namedSecrets } from '../secrets/named-secrets.ts';
import { SecretStore } from '../secrets/secret-store.ts';
import { secretsForAction } from '../secrets/secrets-for-action.ts';
import { SettingsStore } from '../settings/settings.ts';
import { pruneWsSessions } from '../compat/opendevin/sockets/prune-ws-sessions.ts';
import { VERSION } from '../platform/version.ts';
import { makeWorkspaceBase } from '../sandboxes/workspace-folder.ts';

/** More of them do not get more done, and clients wait longer. */
const TURNS_PER_ROUND = 2;
/** What has not answered by then is not there. */
const LOCAL_MODELS_MS = 300;

export interface ComposeOptions {
  readonly clock: Clock;
  /** Default: lines on stderr at the configured level. */
  readonly logger?: Logger;
  /** Told what begins in the event loop; who gave it starts it. */
  readonly loop?: LoopWatch;
  /** How long a connection of a sandbox waits for a person's answer. */
  readonly questionWaitMs?: number;
  /** Called repeatedly with the progress while the store of an earlier version is upgraded. */
  readonly onUpgrade?: (progress: UpgradeProgress) => void;
  /** What stands between the engine and what it drives: tests put faults there. */
  readonly around?: { readonly log?: (log: EventLog) => EventLog; readonly runtimes?: (runtimes: Runtimes) => Runtimes };
}

export interface ComposedEngine extends Engine {
  readonly logger: Logger;
}

/** Everything but the doors. Rejects with an Error whose message can be shown when storage or sandbox can not be had. */
export async function composeEngine(config: Config, options: ComposeOptions): Promise<ComposedEngine> {
  const { clock, around = {} } = options;
  // First of all, as it waits for programs while the rest is busy.
  const driving = openDriver(config);
  driving.catch(() => undefined);
  await makeHome(config.home);
  await makeWorkspaceBase(config);
  const jwtSecret = config.jwtSecret ?? (await keptSecret(join(config.home, 'jwt-secret')));
  // Damage can be found before there is a logger: what is found first is said when there is one.
  let warn = (_finding: string): void => undefined;
  const storage = await openStorage(config, options, (finding) => warn(finding));
  const settings = await SettingsStore.open(storage.records, jwtSecret);
  const secretStore = await SecretStore.open(storage.records, jwtSecret);
  const providerTokens = await ProviderTokens.open(storage.records, jwtSecret);
  const toolServers = new ConversationToolServers(jwtSecret);
  const access = await openAccessBooks(storage.records, clock);
  const configuredKeys = config.toolServers ? secretsOfMcp(config.toolServers) : [];
  const secrets = (): Secret[] => [
    ...given(config.llmApiKey, config.sessionApiKey, config.executorHost?.key, config.searchApiKey, jwtSecret),
    ...configuredKeys,
    ...settings.secrets,
    ...secretStore.values.values(),
    ...providerTokens.secrets,
    ...conversations.secrets,
    ...toolServers.secrets,
  ];
  const mask = liveMask(secrets);
  const logger = options.logger ?? createLogger({ level: config.logLevel, mask });

  const { driver, otherReapers, sandbox, network } = await driving.catch(async (cause: unknown) => {
    await storage.close();
    throw cause;
  });
  const leaveProxy = config.upstreamProxy ? useUpstreamProxy(config.upstreamProxy) : () => undefined;
  const runtimes: SandboxRuntimes = createRuntimes({
    records: storage.records,
    driver,
    otherReapers,
    stateRoot: join(config.home, 'sandboxes'),
    workspaceOf: async (id) => {
      const record = await conversations.get(id);
      return record && { hostPath: await conversations.workspaceOf(record) };
    },
    clock,
    onNotice: (notice) => logger.info(notice),
    rest: restPlan(config.sandbox),
    plugins: config.sandbox.plugins,
    output: config.sandbox.output,
    noOutputTimeoutSeconds: config.sandbox.noOutputSeconds,
    onAsleep: (id) => conversations.sayAsleep(id),
    ...(config.upstreamProxy && { upstreamProxy: config.upstreamProxy }),
    networkOf: async (id) => {
      const record = await conversations.get(id);
      return record ? conversations.networkOf(record) : { mode: 'none', allow: [], allowPrivate: [] };
    },
    askPerson: (id, place) => conversations.questions.ask(id, place),
    registries: network,
    git: gitAccess(providerTokens),
    secretsFor: (action) => secretsForAction(action, namedSecrets(secretStore, providerTokens)),
  });
  const loop = options.loop ?? new LoopWatch();
  const fairly = fairTurns(TURNS_PER_ROUND);
  const places = new KeyedSemaphore(config.maxModelRequests);
  const choiceOf = (record: Pick<StoredConversation, 'id' | 'model'>): ModelChoice =>
    chooseModel({ model: record.model, llm: conversations.modelAccess(record.id) }, settings, config);
  const conversations: Conversations = new Conversations({
    config,
    network: { network, isPoliced: sandbox.isPoliced, settings: () => settings.network },
    allowAlways: (host) => settings.allowHost(host),
    ...(options.questionWaitMs !== undefined && { questionWaitMs: options.questionWaitMs }),
    storage,
    runtimes,
    clock,
    logger,
    mask,
    onLooked: (room) => announcePorts(room, () => runtimes.ports(room.conversation.id)),
    open: (record) => {
      const parts = { config, clock, logger, mask, storage, runtimes, settings, providerTokens, toolServers, conversations, around };
      return composeConversation(record, { ...parts, chooses: choiceOf, places, fairly, loop });
    },
  });
  // Not before: a line of the log is masked, and conversations have secrets too.
  for (const finding of storage.findings) logger.warn(finding);
  warn = (finding) => logger.warn(finding);
  const eventSearch = new EventSearch({
    storage,
    clock,
    version: VERSION,
    onProblem: (cause) => logger.warn({ err: cause }, 'the index of events fails: searches read the logs'),
  });
  const defaultChoice = (): ModelChoice => chooseModel({}, settings, config);
  return {
    clock,
    logger,
    storage,
    runtimes,
    conversations,
    eventSearch,
    settings,
    secretStore,
    providerTokens,
    toolServers,
    access,
    sandbox,
    secrets,
    jwtSecret,
    agents: agentNames(),
    models: async () => [...new Set([...(await offeredModels()), 'demo', defaultChoice().model])],
    defaultModel: () => defaultChoice().model,
    modelOf: (record) => choiceOf(record).model,
    wake: async () => {
      // Conversations do not wait until the sandboxes of an earlier server are sorted out.
      await Promise.all([runtimes.reconcile(), conversations.wakeActive()]);
      // Nobody waits for these.
      const swept = await storage.sweep();
      const pruned = await pruneWsSessions(storage.records, clock.now());
      if (swept + pruned > 0) logger.info(`${swept} files of no conversation and ${pruned} sessions of old clients were removed`);
    },
    close: async () => {
      await conversations.close();
      await eventSearch.close();
      await runtimes.close();
      await storage.close();
      leaveProxy();
    },
  };
}

async function openStorage(config: Config, options: ComposeOptions, onFinding: (finding: string) => void): Promise<Storage> {
  const { openSqliteStorage } = await import('@tendon/core/storage');
  const [path, blobDir] = [join(config.home, 'tendon.db'), join(config.home, 'blobs')];
  let doing: UpgradeProgress['doing'] | undefined;
  const onUpgrade = (progress: UpgradeProgress): void => {
    options.onUpgrade?.(progress);
    if (progress.doing === doing) return;
    doing = progress.doing;
    // Secrets are in the store that is not open yet, and none is in this line.
    const logger = options.logger ?? createLogger({ level: config.logLevel, mask: createMask([]) });
    logger.info(progress, doing === 'copying' ? 'the store of an earlier version is being copied' : 'the store is being migrated');
  };
  return openSqliteStorage({ path, blobDir, clock: options.clock, onFinding, onUpgrade });
}

/** Those of the price table, and those of model servers on this machine: offered, never chosen. */
async function offeredModels(): Promise<readonly string[]> {
  const { findLocalEndpoints, listModels } = await import('@tendon/core/llm');
  const local = await findLocalEndpoints({ fetch, signal: AbortSignal.timeout(LOCAL_MODELS_MS) });
  return [...listModels(), ...local.flatMap((endpoint) => endpoint.models)];
}

function given(...secrets: readonly (Secret | undefined)[]): Secret[] {
  return secrets.filter((secret) => secret !== undefined);
}
