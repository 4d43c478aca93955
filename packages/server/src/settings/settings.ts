/**
 * Owns what the user stored: one record, `settings/default`. Keys of providers are sealed and leave only as `Secret`.
 *
 * SET1  An update changes what it names and nothing else.
 * SET2  No key is ever part of an answer; answers say only whether one is set.
 * SET3  A model's key counts only where it was stored for, its address; that of a model beside the first, which may have none, also only for
 *       the vendor of its name. Naming another must not carry it there.
 * SET4  Updates are one after the other, those of other servers too: of two that overlap, neither loses the other's fields.
 * SET5  MCP servers are sealed whole, for their keys; a client is shown which there are.
 */
import { splitModelName, type RecordStore } from '@tendon/core';
import { Mutex } from '@tendon/protocol/async';
import { Secret } from '@tendon/protocol/masking';
import {
  catalogError,
  isMaskedKey,
  MASKED_KEY,
  McpConfig,
  type CatalogError,
  type ConfirmationRule,
  type Settings,
  type SettingsUpdate,
  GitProvider,
  ProviderToken,
} from '@tendon/protocol';
import { MAX_RULES, noSuchRule, ruleId, tooManyRules, withRules } from '../conversations/confirmation/saved-rules.ts';
import { maskedMcp, secretsOfMcp, withStoredKeys } from './mcp-keys.ts';
import type { ModelReference } from '../platform/config/model-config.ts';
import type { StoredNetwork } from '../conversations/network/conversation-network.ts';
import { seal, unseal } from '../platform/auth/stored-secret.ts';

const KEYS = ['llm_api_key', 'llm_fallback_api_key', 'llm_small_api_key', 'search_api_key', 'sandbox_api_key'] as const;
type KeyName = (typeof KEYS)[number];
/** What stands beside the model. */
type OtherUse = 'fallback' | 'small';
/** What an update may bring. */
const MAX_HOSTS = 200;
/** `null` keeps these, because frontends send it for what they did not load. */
const KEPT_ON_NULL: readonly string[] = ['llm_model', 'llm_base_url', 'user_consents_to_analytics'];

type Values = Omit<
  Settings,
  KeyName | 'mcp_config' | 'secrets_store' | 'provider_tokens_set' | `${string}_set` | 'email' | 'email_verified'
>;
interface StoredSettings {
  readonly values: Partial<Values>;
  readonly keys: Partial<Record<KeyName | 'mcp_config', string>>;
  /** The `llm_base_url` that `llm_api_key` was given for. */
  readonly keyAddress: string;
  /** Where the keys of the models beside it were given for. */
  readonly keyPlaces?: Partial<Record<KeyName, string>>;
}

const DEFAULTS: Values = {
  language: 'en',
  agent: 'CodeActAgent',
  max_iterations: null,
  security_analyzer: null,
  confirmation_mode: false,
  confirmation_policy: null,
  confirmation_rules: [],
  confirmation_timeout: null,
  llm_model: null,
  llm_base_url: '',
  llm_effort: null,
  llm_fallback_model: null,
  llm_fallback_base_url: '',
  llm_small_model: null,
  llm_small_base_url: '',
  remote_runtime_resource_factor: 1,
  enable_default_condenser: true,
  enable_sound_notifications: false,
  enable_proactive_conversation_starters: true,
  enable_solvability_analysis: true,
  user_consents_to_analytics: null,
  sandbox_base_container_image: null,
  sandbox_runtime_container_image: null,
  max_budget_per_task: null,
  condenser_max_size: 120,
  finish_checks: [],
  connected_servers: [],
  git_user_name: 'tendon',
  git_user_email: 'tendon@localhost',
  sandbox_network: null,
  sandbox_network_allow: [],
};

const NO_TOOL_SERVERS: McpConfig = { sse_servers: [], stdio_servers: [], shttp_servers: [] };

export class SettingsStore {
  readonly #records: RecordStore;
  readonly #jwtSecret: Secret;
  readonly #onChange: () => void;
  #stored: StoredSettings | undefined;
  readonly #writing = new Mutex();
  #unsealed: { readonly sealed: string; readonly config: McpConfig } | undefined;

  private constructor(records: RecordStore, jwtSecret: Secret, stored: StoredSettings | undefined, onChange: () => void) {
    this.#records = records;
    this.#jwtSecret = jwtSecret;
    this.#stored = stored;
    this.#onChange = onChange;
  }

  /** `onChange`: called in the tick of each change. */
  static async open(records: RecordStore, jwtSecret: Secret, onChange = (): void => undefined): Promise<SettingsStore> {
    const store = new SettingsStore(records, jwtSecret, undefined, onChange);
    records.watch('settings', () => store.#read());
    await store.#read();
    return store;
  }

  /** As stored now: other servers change it too. */
  #read(): Promise<void> {
    return this.#writing.run(async () => {
      this.#stored = await this.#records.get<StoredSettings>('settings', 'default');
      this.#onChange();
    });
  }

  /** `undefined` until something was stored. */
  get current(): Settings | undefined {
    if (!this.#stored) return undefined;
    const { values, keys } = this.#stored;
    return {
      ...DEFAULTS,
      ...values,
      mcp_config: maskedMcp(this.mcpServers),
      llm_api_key: this.#sealed('llm_api_key') === undefined ? null : MASKED_KEY,
      search_api_key: null,
      sandbox_api_key: null,
      secrets_store: { provider_tokens: {} },
      email: '',
      email_verified: null,
      provider_tokens_set: {},
      llm_api_key_set: this.#sealed('llm_api_key') !== undefined,
      llm_fallback_api_key_set: this.#sealed('llm_fallback_api_key') !== undefined,
      llm_small_api_key_set: this.#sealed('llm_small_api_key') !== undefined,
      search_api_key_set: keys.search_api_key !== undefined,
      github_token_is_set: false,
    };
  }

  /** A stored key; `undefined` when there is none, or when it was sealed under a JWT secret that is gone. */
  key(name: KeyName): Secret | undefined {
    const sealed = this.#sealed(name);
    const text = sealed && unseal(sealed, this.#jwtSecret);
    return text ? new Secret(text) : undefined;
  }

  /** The model beside the first that is stored for this; without a key and an address of its own only its name. */
  other(use: OtherUse): ModelReference | undefined {
    const { current } = this;
    const model = current?.[`llm_${use}_model`];
    if (!model) return undefined;
    return { model, apiKey: this.key(`llm_${use}_api_key`), baseUrl: current[`llm_${use}_base_url`] || undefined };
  }

  /** With their keys. */
  get mcpServers(): McpConfig {
    const sealed = this.#stored?.keys.mcp_config;
    if (sealed === undefined) return NO_TOOL_SERVERS;
    if (this.#unsealed?.sealed !== sealed) {
      const text = unseal(sealed, this.#jwtSecret);
      const config = text ? McpConfig.safeParse(JSON.parse(text)).data : undefined;
      this.#unsealed = { sealed, config: config ?? NO_TOOL_SERVERS };
    }
    return this.#unsealed.config;
  }

  /** Where the sandboxes of all conversations may connect to, as far as it is stored. */
  get network(): StoredNetwork {
    const { sandbox_network: mode, sandbox_network_allow: allow } = { ...DEFAULTS, ...this.#stored?.values };
    return { ...(mode && { mode }), allow };
  }

  #sealed(name: KeyName): string | undefined {
    if (!this.#stored) return undefined;
    const { keys, keyAddress, keyPlaces, values } = this.#stored;
    const givenFor = name === 'llm_api_key' ? keyAddress : keyPlaces?.[name];
    return (givenFor ?? '') === placeOf(name, values) ? keys[name] : undefined;
  }

  get secrets(): readonly Secret[] {
    return [...KEYS.flatMap((name) => this.key(name) ?? []), ...secretsOfMcp(this.mcpServers)];
  }

  /** The reason why it was refused, or `undefined` when it is durable. */
  update(update: SettingsUpdate): Promise<CatalogError | undefined> {
    return this.#writing.run(() => this.#apply(update));
  }

  /** Adds a name to those that `allowlist` opens in every conversation. */
  allowHost(host: string): Promise<CatalogError | undefined> {
    return this.#writing.run(async () => {
      const { allow } = this.network;
      if (allow.includes(host)) return undefined;
      if (allow.length >= MAX_HOSTS) return catalogError('INVALID_ARGUMENTS', `sandbox_network_allow has ${MAX_HOSTS} names already`);
      return this.#apply({ sandbox_network_allow: [...allow, host] });
    });
  }

  /** Adds a rule to those of all conversations. */
  allowAction(rule: ConfirmationRule): Promise<CatalogError | undefined> {
    return this.#writing.run(async () => {
      const rules = this.current?.confirmation_rules ?? [];
      const together = withRules(rules, [rule]);
      if (together.length > MAX_RULES) return tooManyRules();
      return together.length === rules.length ? undefined : this.#apply({ confirmation_rules: [...together] });
    });
  }

  /** Takes back a rule of all conversations, by the name that `ruleId` gives it. */
  removeRule(id: string): Promise<CatalogError | undefined> {
    return this.#writing.run(async () => {
      const rules = this.current?.confirmation_rules ?? [];
      const left = rules.filter((rule) => ruleId(rule) !== id);
      return left.length === rules.length ? noSuchRule() : this.#apply({ confirmation_rules: left });
    });
  }

  async #apply(update: SettingsUpdate): Promise<CatalogError | undefined> {
    this.#stored = await this.#records.update<StoredSettings>('settings', 'default', (now) => {
      this.#stored = now;
      return { sort: '', value: this.#changed(update) };
    });
    this.#onChange();
    return undefined;
  }

  /** What is stored, with the update. */
  #changed(update: SettingsUpdate): StoredSettings {
    const keys = { ...this.#stored?.keys };
    for (const name of KEYS) {
      const value = update[name]?.trim();
      if (value === '') delete keys[name];
      if (!value || isMaskedKey(value)) continue;
      keys[name] = seal(value, this.#jwtSecret);
    }
    if (update.mcp_config) keys.mcp_config = seal(JSON.stringify(withStoredKeys(update.mcp_config, this.mcpServers)), this.#jwtSecret);
    if (update.mcp_config === null) delete keys.mcp_config;
    const values: Partial<Values> = { ...this.#stored?.values };
    for (const name of Object.keys(DEFAULTS) as (keyof Values)[]) {
      const value = update[name];
      if (value === undefined || (value === null && KEPT_ON_NULL.includes(name))) continue;
      Object.assign(values, { [name]: value ?? DEFAULTS[name] });
    }
    const isNew = (name: KeyName) => keys[name] !== this.#stored?.keys[name];
    const keyAddress = isNew('llm_api_key') ? placeOf('llm_api_key', values) : (this.#stored?.keyAddress ?? '');
    const keyPlaces = { ...this.#stored?.keyPlaces };
    for (const name of KEYS) if (name !== 'llm_api_key' && isNew(name)) keyPlaces[name] = placeOf(name, values);
    return { values, keys, keyAddress, keyPlaces };
  }
}

/** Where a key is sent to (SET3); the same for all where it is no model's. */
function placeOf(name: KeyName, values: Partial<Values>): string {
  if (name === 'llm_api_key') return values.llm_base_url ?? '';
  const use = name === 'llm_fallback_api_key' ? 'fallback' : name === 'llm_small_api_key' ? 'small' : undefined;
  if (!use) return '';
  return values[`llm_${use}_base_url`] || (splitModelName(values[`llm_${use}_model`] ?? '').vendor ?? '');
}

/** The tokens that clients before 0.37 send with the settings; what is none of a known provider is left out. */
export function providerTokensOf({
  github_token,
  provider_tokens,
}: SettingsUpdate): Partial<Record<GitProvider, ProviderToken>> | undefined {
  const given: Readonly<Record<string, unknown>> = { ...provider_tokens, ...(github_token && { github: github_token }) };
  const tokens: Partial<Record<GitProvider, ProviderToken>> = {};
  for (const provider of GitProvider.options) {
    const token = Object.hasOwn(given, provider) ? ProviderToken.safeParse(given[provider]) : undefined;
    if (token?.success) tokens[provider] = token.data;
  }
  return Object.keys(tokens).length > 0 ? tokens : undefined;
}
