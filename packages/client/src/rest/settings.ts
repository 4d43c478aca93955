import type {
  BackendSettings,
  BegunMcpLogin,
  McpLoginList,
  McpTest,
  ModelInfo,
  ModelProbeInfo as ModelProbe,
  OptionNames,
  OptionsConfig,
  CreateSecret,
  SavedRules,
  SecretList,
  OwnerQuery,
  ServerInfo as WireInfo,
  Settings,
  SettingsUpdate,
  UpdateSecret,
} from '@tendon/protocol';
import { ApiError, type Request } from './request.ts';

/** Longer than the server waits for a program. */
const MCP_TEST_MS = 120_000;

export type SettingsPatch = Partial<SettingsUpdate>;

export function settingsRoutes(request: Request) {
  const get = async (signal?: AbortSignal): Promise<Settings | null> => {
    try {
      return await request<Settings>('/api/settings', { ...(signal && { signal }) });
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return null;
      throw error;
    }
  };
  return {
    /** `null` until something was stored. */
    get,
    /** To what a new server has. */
    reset: () => request<unknown>('/api/reset-settings', { method: 'POST' }),
    /**
     * The route replaces (0.62), so what is stored is read first and sent back with the changes. Two writers at once: the last one wins.
     * Lists that only our servers have stay as they are there: somebody may take a rule back meanwhile.
     */
    patch: async (changes: SettingsPatch): Promise<void> => {
      const { llm_api_key: _masked, confirmation_rules: _rules, sandbox_network_allow: _hosts, ...stored } = (await get()) ?? {};
      await request('/api/settings', { method: 'POST', body: { ...stored, ...changes } });
    },
  };
}

/** Saved for all conversations, or for those of a repository. */
export function ruleRoutes(request: Request) {
  return {
    list: async () => (await request<SavedRules>('/api/rules')).rules,
    /** Needs the scope `admin`. */
    remove: (rule: string) => request<SavedRules>(`/api/rules/${rule}`, { method: 'DELETE' }),
  };
}

/** Logins to MCP servers by OAuth. They need the scope `admin`. */
export function mcpLoginRoutes(request: Request) {
  return {
    list: async () => (await request<McpLoginList>('/api/mcp/logins')).servers,
    /** `server`: a name or an address of the list. A person opens the address of the answer and permits it there. */
    begin: (server: string) => request<BegunMcpLogin>('/api/mcp/logins', { method: 'POST', body: { server } }),
    /** Connects to a server of the settings as a conversation would; starts a program in a sandbox of its own. `signal` ends that too. */
    test: (server: string, { signal }: { readonly signal?: AbortSignal } = {}) =>
      request<McpTest>('/api/mcp/test', { method: 'POST', body: { server }, timeoutMs: MCP_TEST_MS, ...(signal && { signal }) }),
    end: (server: string) => request<unknown>(`/api/mcp/logins?${new URLSearchParams({ server }).toString()}`, { method: 'DELETE' }),
  };
}

/** Whose secrets and git accounts, where the server has users; default: the user's own, and the server's of every other caller. */
export type SecretOwner = NonNullable<OwnerQuery['owner']>;

/** What agents may use and nobody may read back. */
export function secretRoutes(request: Request) {
  const one = (name: string): string => `/api/secrets/${encodeURIComponent(name)}`;
  return {
    list: async (owner?: SecretOwner) => (await request<SecretList>('/api/secrets', { query: { owner } })).custom_secrets,
    create: (body: CreateSecret, owner?: SecretOwner) => request<unknown>('/api/secrets', { method: 'POST', query: { owner }, body }),
    /** Its value stays. */
    update: (body: UpdateSecret, owner?: SecretOwner) => request<unknown>(one(body.name), { method: 'PUT', query: { owner }, body }),
    remove: (name: string, owner?: SecretOwner) => request<unknown>(one(name), { method: 'DELETE', query: { owner } }),
  };
}

/** `GET /server_info`; the fields here are Tendon's own. */
export type ServerInfo = WireInfo & {
  readonly version?: string;
  readonly sandbox?: { readonly driver: string; readonly strength: 'container' | 'os-sandbox' | 'none'; readonly description?: string };
  /** The model that new conversations get. */
  readonly model?: string;
  /** After so many days without an event a conversation is deleted; missing: none is. */
  readonly retention_days?: number;
};

export function optionRoutes(request: Request) {
  return {
    /** litellm names, `provider/model`. */
    models: () => request<OptionNames>('/api/options/models'),
    agents: () => request<OptionNames>('/api/options/agents'),
    securityAnalyzers: () => request<OptionNames>('/api/options/security-analyzers'),
    config: () => request<OptionsConfig>('/api/options/config'),
    backend: () => request<BackendSettings>('/api/backend-settings'),
    /** Whether the server runs; asks nothing of it. */
    alive: () => request<{ readonly status: 'ok' }>('/alive'),
    health: () => request<'OK'>('/health'),
    /** For Prometheus. */
    metrics: () => request<string>('/metrics'),
    serverInfo: (signal?: AbortSignal) => request<ServerInfo>('/server_info', { ...(signal && { signal }) }),
  };
}

/** Ours: what the models in use can do. */
export function modelRoutes(request: Request) {
  return {
    list: async (): Promise<readonly ModelInfo[]> => (await request<{ readonly models: readonly ModelInfo[] }>('/api/models')).models,
    /** Asks the endpoint a few short questions, which cost tokens; default: the model of the settings. `failure` has the provider's words. */
    probe: (model?: string) => request<ModelProbe>('/api/models/probe', { method: 'POST', body: { ...(model && { model }) } }),
  };
}
