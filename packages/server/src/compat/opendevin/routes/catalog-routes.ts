import { OptionNames } from '@tendon/protocol';
import { z } from 'zod';
import type { Routes } from '../../../platform/http/app.ts';
import { sendJsonText } from '../../../platform/http/failure.ts';
import type { SettingsStore } from '../../../settings/settings.ts';

const field = (type: string, value: unknown, optional = false) => ({ type, optional, default: value });

/** What the settings dialogs of spring 2024 choose from, under the names of every week. */
export interface CatalogContext {
  readonly agents: readonly string[];
  readonly settings: SettingsStore;
  readonly sandbox: { readonly driver: string };
  models(): Promise<readonly string[]>;
  defaultModel(): string;
}

export const catalogRoutes: Routes<CatalogContext> = (app, context) => {
  const names = { schema: { response: { 200: OptionNames } } };
  for (const url of ['/api/litellm-models', '/litellm-models']) app.get(url, names, async () => [...(await context.models())]);
  for (const url of ['/api/litellm-agents', '/litellm-agents', '/api/agents']) app.get(url, names, async () => [...context.agents]);
  for (const url of ['/api/default-model', '/default-model']) {
    app.get(
      url,
      { schema: { response: { 200: z.string() } } },
      async (_request, reply) => sendJsonText(reply, JSON.stringify(context.defaultModel())) as never,
    );
  }
  // 0.3 sends all of it back as text in `initialize`, which is how it is known; paths of this machine are not part of it.
  for (const url of ['/api/configurations', '/configurations']) {
    app.get(url, { schema: { response: { 200: z.record(z.string(), z.unknown()) } } }, async () => ({
      LLM_MODEL: context.defaultModel(),
      LLM_BASE_URL: null,
      AGENT: context.agents[0],
      LANGUAGE: 'en',
      MAX_ITERATIONS: context.settings.current?.max_iterations ?? 500,
      MAX_CHARS: 5_000_000,
      WORKSPACE_BASE: null,
      SANDBOX_TYPE: context.sandbox.driver,
    }));
  }
  app.get('/api/defaults', { schema: { response: { 200: z.record(z.string(), z.unknown()) } } }, async () => ({
    llm: { model: field('str', context.defaultModel()), api_key: field('str', null, true), base_url: field('str', null, true) },
    agent: { name: field('str', context.agents[0]) },
    max_iterations: field('int', context.settings.current?.max_iterations ?? 500),
    confirmation_mode: field('bool', context.settings.current?.confirmation_mode ?? false),
  }));
};
