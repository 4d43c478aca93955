import { Failure, Settings, SettingsUpdate, type CatalogError, BackendSettings, OptionNames, OptionsConfig } from '@tendon/protocol';
import { z } from 'zod';
import type { Config } from '../platform/config/config.ts';
import type { Routes } from '../platform/http/app.ts';
import { fail, sendFailure } from '../platform/http/failure.ts';
import { securityAnalyzers } from '../conversations/confirmation/confirmation-of.ts';
import { checkNetworkParams } from '../conversations/network/conversation-network.ts';
import { providerTokensOf, type SettingsStore } from './settings.ts';
import type { Conversations } from '../conversations/conversations.ts';
import type { SandboxPool } from '@tendon/runtime';
import type { OwnedGitAccounts } from '../git-providers/owned-git-accounts.ts';
import type { Caller } from '../platform/auth/caller.ts';
import { ownedByCaller } from '../platform/auth/own-scope.ts';
import type { ProviderTokens } from '../git-providers/provider-tokens.ts';

interface SettingsContext {
  readonly settings: SettingsStore;
  /** The server's. */
  readonly providerTokens: ProviderTokens;
  readonly gitAccounts: Pick<OwnedGitAccounts, 'of'>;
  readonly conversations: Conversations;
  readonly runtimes: SandboxPool;
  /** The model of a conversation that chose none, as of now. */
  defaultModel(): string;
}

const Stored = z.object({ message: z.string() });

/** The user's stored settings; 404 until something was stored, which makes frontends ask for a model. */
export const settingsRoutes: Routes<SettingsContext> = (app, context) => {
  app.get('/api/settings', { schema: { response: { 200: Settings, 404: Failure } } }, async ({ principal }, reply) => {
    return settingsOf(context, principal) ?? fail(reply, 'SETTINGS_NOT_FOUND');
  });
  app.post(
    '/api/settings',
    { schema: { body: SettingsUpdate, response: { 200: Stored, '4xx': Failure, 502: Failure } } },
    async ({ body }, reply) => {
      const update = networkTaken(body, context);
      if ('code' in update) return sendFailure(reply, update);
      const tokens = providerTokensOf(body);
      if (body.unset_github_token) await context.providerTokens.clear();
      const error =
        (await context.settings.update(withoutShownModel(update, context))) ?? (tokens && (await context.providerTokens.add(tokens)));
      if (isForNetwork(body)) {
        await context.conversations.questions.policyChanged();
        await context.runtimes.networkChanged();
      }
      return error ? sendFailure(reply, error) : { message: 'Settings stored' };
    },
  );
  app.post('/api/reset-settings', { schema: { response: { 410: Failure } } }, async (_request, reply) => {
    const text = 'Reset settings functionality has been removed.';
    return reply.code(410).send({ detail: text, error: text, message: text });
  });
};

/** With no model stored the one in use is named: frontends take the name apart without looking whether there is one. */
function settingsOf({ settings, gitAccounts, defaultModel }: SettingsContext, by: Caller): Settings | undefined {
  const { current } = settings;
  if (!current) return undefined;
  const provider_tokens_set = gitAccounts.of(ownedByCaller(by)).set;
  const llm_model = current.llm_model || defaultModel();
  return { ...current, llm_model, provider_tokens_set, github_token_is_set: 'github' in provider_tokens_set };
}

function isForNetwork({ sandbox_network: mode, sandbox_network_allow: allow }: SettingsUpdate): boolean {
  return mode !== undefined || allow !== undefined;
}

/** With the names as they are compared; or why this server cannot keep such a network. */
function networkTaken(body: SettingsUpdate, { conversations }: SettingsContext): SettingsUpdate | CatalogError {
  const { sandbox_network: mode, sandbox_network_allow: allow } = body;
  const taken = checkNetworkParams(conversations.networkRules, { mode, allow });
  if (!taken.ok) return taken.error;
  return allow ? { ...body, sandbox_network_allow: [...taken.network.allow] } : body;
}

/** Frontends send back all that they were shown; a name that was only shown is no choice, and must not outlive the environment's. */
function withoutShownModel(body: SettingsUpdate, { settings, defaultModel }: SettingsContext): SettingsUpdate {
  const isShown = !settings.current?.llm_model && body.llm_model === defaultModel();
  return isShown && !body.llm_api_key ? { ...body, llm_model: undefined } : body;
}

/** How a client reached this server, as the Mac client keeps it: from this alone it can come back. */
export const backendSettingsRoutes: Routes = (app) => {
  app.get('/api/backend-settings', { schema: { response: { 200: BackendSettings } } }, async (request) => {
    const address = new URL(`http://${request.headers.host ?? 'localhost'}`);
    const use_tls = request.headers['x-forwarded-proto'] === 'https';
    const backend_port = Number(address.port) || (use_tls ? 443 : 80);
    return { backend_host: address.hostname.replace(/^\[|\]$/g, ''), backend_port, use_tls };
  });
};

interface OptionContext {
  models(): Promise<readonly string[]>;
  agents(): Promise<readonly string[]>;
  readonly config: Pick<Config, 'invariantUrl'>;
}

/** What a client can choose from. */
export const optionRoutes: Routes<OptionContext> = (app, { models, agents, config }) => {
  app.get('/api/options/config', { schema: { response: { 200: OptionsConfig } } }, async () => ({
    APP_MODE: 'oss' as const,
    GITHUB_CLIENT_ID: '',
    POSTHOG_CLIENT_KEY: '',
    FEATURE_FLAGS: { ENABLE_BILLING: false, HIDE_LLM_SETTINGS: false },
    PROVIDERS_CONFIGURED: [],
  }));
  app.get('/api/options/models', { schema: { response: { 200: OptionNames } } }, async () => (await models()).toSorted());
  app.get('/api/options/agents', { schema: { response: { 200: OptionNames } } }, async () => (await agents()).toSorted());
  app.get('/api/options/security-analyzers', { schema: { response: { 200: OptionNames } } }, async () => [...securityAnalyzers(config)]);
};
