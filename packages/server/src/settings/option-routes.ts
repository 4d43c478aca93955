import { OptionNames, OptionsConfig } from '@tendon/protocol';
import type { Routes } from '../platform/http/app.ts';

const SECURITY_ANALYZERS = ['grayswan', 'invariant', 'llm'];

/** What a client can choose from. */
export const optionRoutes: Routes<{ models(): Promise<readonly string[]>; readonly agents: readonly string[] }> = (
  app,
  { models, agents },
) => {
  app.get('/api/options/config', { schema: { response: { 200: OptionsConfig } } }, async () => ({
    APP_MODE: 'oss' as const,
    GITHUB_CLIENT_ID: '',
    POSTHOG_CLIENT_KEY: '',
    FEATURE_FLAGS: { ENABLE_BILLING: false, HIDE_LLM_SETTINGS: false },
    PROVIDERS_CONFIGURED: [],
  }));
  app.get('/api/options/models', { schema: { response: { 200: OptionNames } } }, async () => (await models()).toSorted());
  app.get('/api/options/agents', { schema: { response: { 200: OptionNames } } }, async () => agents.toSorted());
  app.get('/api/options/security-analyzers', { schema: { response: { 200: OptionNames } } }, async () => SECURITY_ANALYZERS);
};
