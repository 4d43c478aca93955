import { OptionNames, OptionsConfig } from '@tendon/protocol';
import type { Routes } from '../platform/http/app.ts';
import type { ServerContext } from '../app/context.ts';

const SECURITY_ANALYZERS = ['grayswan', 'invariant', 'llm'];

/** What a client can choose from. */
export const optionRoutes: Routes<ServerContext> = (app, { engine }) => {
  app.get('/api/options/config', { schema: { response: { 200: OptionsConfig } } }, async () => ({
    APP_MODE: 'oss' as const,
    GITHUB_CLIENT_ID: '',
    POSTHOG_CLIENT_KEY: '',
    FEATURE_FLAGS: { ENABLE_BILLING: false, HIDE_LLM_SETTINGS: false },
    PROVIDERS_CONFIGURED: [],
  }));
  app.get('/api/options/models', { schema: { response: { 200: OptionNames } } }, async () => (await engine.models()).toSorted());
  app.get('/api/options/agents', { schema: { response: { 200: OptionNames } } }, async () => engine.agents.toSorted());
  app.get('/api/options/security-analyzers', { schema: { response: { 200: OptionNames } } }, async () => SECURITY_ANALYZERS);
};
