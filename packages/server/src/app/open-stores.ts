/** Everything durable, opened before anything that works with it. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { ModelTraitsBook, type Clock, type Storage } from '@tendon/core';
import { createLiveMask, type BoundSecret, type Mask, type Secret } from '@tendon/protocol/masking';
import type { UpgradeProgress } from '@tendon/core/storage';
import { ModelKeys } from '../conversations/model-keys.ts';
import { ToolFiles } from '../extensions/installed-tools.ts';
import { checkToken } from '../git-providers/check-token.ts';
import { OwnedGitAccounts } from '../git-providers/owned-git-accounts.ts';
import { ProviderTokens } from '../git-providers/provider-tokens.ts';
import type { OwnedBy } from '../platform/auth/own-scope.ts';
import { ConversationMcpServers } from '../mcp/conversation-mcp-servers.ts';
import { Notes } from '../knowledge/notes.ts';
import { McpLogins } from '../mcp/oauth/mcp-logins.ts';
import { ToolPins } from '../mcp/tool-pins.ts';
import { openTokenStores, type TokenStores } from '../platform/auth/token-stores.ts';
import { storedSecret } from '../platform/auth/stored-secret.ts';
import type { Config } from '../platform/config/config.ts';
import { loggerOfStart, type Logger } from '../platform/logger.ts';
import { openStorage, passwordOf } from '../platform/open-storage.ts';
import type { OpenedDriver } from '../sandboxes/open-driver.ts';
import { SecretStore } from '../secrets/secret-store.ts';
import { secretsOfMcp } from '../settings/mcp-keys.ts';
import { PushDevices } from '../push/push-devices.ts';
import { boundSecretsOf } from '../secrets/bound-secrets.ts';
import { OwnedSecrets } from '../secrets/owned-secrets.ts';
import { SettingsStore } from '../settings/settings.ts';
import { TriggerStore } from '../triggers/trigger-store.ts';

interface McpStores {
  /** Those that conversations were created with. */
  readonly mcpServers: ConversationMcpServers;
  /** Logins to MCP servers of the settings and the configuration. */
  readonly mcpLogins: McpLogins;
  /** How those described their tools. */
  readonly pins: ToolPins;
}

interface ModelStores {
  /** Keys that came with `initialize`, of single conversations. */
  readonly modelKeys: ModelKeys;
  /** What the endpoints of models have shown that they can do. */
  readonly traits: ModelTraitsBook;
}

/** What the user has entered, and what agents remember for him. */
interface UserStores {
  readonly settings: SettingsStore;
  /** Named for agents: the server's, and whose there are beside them. */
  readonly secretStore: SecretStore;
  readonly ownedSecrets: OwnedSecrets;
  /** Tokens of git providers, in the same way. */
  readonly providerTokens: ProviderTokens;
  readonly gitAccounts: OwnedGitAccounts;
  /** What starts conversations when something happens. */
  readonly triggerStore: TriggerStore;
  /** What agents remember between conversations. */
  readonly notes: Notes;
  /** The user's own tools. */
  readonly toolFiles: ToolFiles;
}

export interface Stores extends McpStores, ModelStores, UserStores {
  readonly storage: Storage;
  /** Signs the tokens of clients that keep one, and seals what is stored. */
  readonly jwtSecret: Secret;
  /** Of those two what may go to some hosts alone, as of now. */
  readonly boundSecrets: (owner: OwnedBy) => readonly BoundSecret[];
  /** Keys, links and sessions that were handed out. */
  readonly access: TokenStores;
  /** To which what waits for a person is sent. */
  readonly pushDevices: PushDevices;
  /** Hides what the other stores hold, as of now. */
  readonly mask: Mask;
}

/** What conversations, sandboxes and searches are made over. */
export interface Foundation extends Stores {
  readonly config: Config;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly driver: OpenedDriver;
}

export interface StoreOptions {
  readonly clock: Clock;
  readonly logger?: Logger;
  /** Called repeatedly with the progress while the store of an earlier version is upgraded. */
  readonly onUpgrade?: (progress: UpgradeProgress) => void;
  /** Called once when the database does not answer, which is then waited for. Default: it is refused. */
  readonly onOutage?: () => void;
  /** Called with a sentence for each damage that is found, also while it is opened. */
  readonly onFinding: (finding: string) => void;
}

/** Rejects with a user-facing Error when the storage cannot be opened. */
export async function openStores(config: Config, options: StoreOptions): Promise<Stores> {
  const jwtSecret = config.jwtSecret ?? (await storedSecret(join(config.home, 'jwt-secret')));
  const storage = await openLoggedStorage(config, options);
  await sameSecret(config, storage, jwtSecret, options).catch(async (cause: unknown) => {
    await storage.close();
    throw cause;
  });
  const mask = createLiveMask();
  const onChange = mask.renew;
  const secretStore = await SecretStore.open(storage.records, jwtSecret, onChange);
  const providerTokens = await ProviderTokens.open(storage.records, jwtSecret, { onChange });
  const owned = { records: storage.records, jwtSecret, onChange, hasUsers: config.oidc !== undefined };
  const ownedSecrets = await OwnedSecrets.open(secretStore, owned);
  const gitAccounts = await OwnedGitAccounts.open(providerTokens, { ...owned, check: checkToken });
  const access = await openTokenStores(storage.records, options.clock, config.oidc?.rules);
  const stores = {
    storage: await withoutErased(storage, access.users),
    jwtSecret,
    settings: await SettingsStore.open(storage.records, jwtSecret, onChange),
    secretStore,
    providerTokens,
    ownedSecrets,
    gitAccounts,
    boundSecrets: boundSecretsOf(ownedSecrets, gitAccounts),
    mcpServers: new ConversationMcpServers(jwtSecret, onChange),
    mcpLogins: await McpLogins.open({ records: storage.records, jwtSecret, clock: options.clock, onChange }),
    pins: new ToolPins(storage.records),
    triggerStore: await TriggerStore.open({ records: storage.records, jwtSecret, clock: options.clock, onChange }),
    notes: new Notes(config.home, mask),
    toolFiles: new ToolFiles(options.clock),
    access,
    pushDevices: new PushDevices({ ...config, records: storage.records, jwtSecret, clock: options.clock, access }),
    modelKeys: new ModelKeys(jwtSecret, onChange),
    traits: await openTraits(storage, options),
    mask,
  };
  mask.add(knownSecrets(config, stores));
  return stores;
}

/** Where there are users, whom logs name. */
async function withoutErased(storage: Storage, users: TokenStores['users']): Promise<Storage> {
  if (!users) return storage;
  const { withoutErasedNames } = await import('../erasure/erased-authors.ts');
  return { ...storage, events: withoutErasedNames(storage.events, (id) => users.erasedName(id)) };
}

function openTraits({ records }: Storage, { clock, onFinding }: StoreOptions): Promise<ModelTraitsBook> {
  const digest = (text: string): string => createHash('sha256').update(text).digest('hex');
  const onProblem = (cause: unknown): void => onFinding(`what a model can do could not be stored: ${String(cause)}`);
  return ModelTraitsBook.open({ records, clock, digest, onProblem });
}

/** Not loaded where nobody else has the storage. */
async function sameSecret({ cluster }: Config, storage: Storage, secret: Secret, { onFinding }: StoreOptions): Promise<void> {
  if (cluster) await (await import('../platform/auth/same-secret.ts')).checkSameSecret(storage, secret, onFinding);
}

/** Everything that must not be printed, as of each call. */
export function knownSecrets(config: Config, stores: Stores): () => Secret[] {
  const { llmApiKey, sessionApiKey, executorHosts, searchApiKey, mcpServers, databaseUrl, tracing, blobs, oidc } = config;
  const configured = [
    llmApiKey,
    sessionApiKey,
    ...executorHosts.map(({ key }) => key),
    searchApiKey,
    databaseUrl,
    passwordOf(databaseUrl),
    blobs?.secretAccessKey,
    blobs?.sessionToken,
    oidc?.clientSecret,
    stores.jwtSecret,
  ].filter((one) => one !== undefined);
  const configuredKeys = [...(mcpServers ? secretsOfMcp(mcpServers) : []), ...Object.values(tracing?.headers ?? {})];
  return () => [
    ...configured,
    ...configuredKeys,
    ...stores.settings.secrets,
    ...stores.ownedSecrets.all,
    ...stores.gitAccounts.all,
    ...stores.modelKeys.secrets,
    ...stores.mcpServers.secrets,
    ...stores.mcpLogins.secrets,
    ...stores.triggerStore.secrets,
  ];
}

function openLoggedStorage(config: Config, { clock, onFinding, ...options }: StoreOptions): Promise<Storage> {
  const logger = (): Logger => options.logger ?? loggerOfStart(config.logLevel);
  let doing: UpgradeProgress['doing'] | undefined;
  const onUpgrade = (progress: UpgradeProgress): void => {
    options.onUpgrade?.(progress);
    if (progress.doing === doing) return;
    doing = progress.doing;
    logger().info(progress, doing === 'copying' ? 'the store of an earlier version is being copied' : 'the store is being migrated');
  };
  const onOutage = (sentence: string): void => {
    options.onOutage!();
    logger().warn(sentence);
  };
  return openStorage(config, { clock, onFinding, onUpgrade, ...(options.onOutage && { onOutage }) });
}
