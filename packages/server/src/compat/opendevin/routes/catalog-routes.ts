import { OptionNames } from '@tendon/protocol';
import { z } from 'zod';
import type { Routes } from '../../../platform/http/app.ts';
import type { ServerContext } from '../../../app/context.ts';
import { sendJsonText } from '../../../platform/http/failure.ts';

const field = (type: string, value: unknown, optional = false) => ({ type, optional, default: value });

/** What the settings dialogs of spring 2024 choose from, under the names of every week. */
export const catalogRoutes: Routes<ServerContext> = (app, { engine }) => {
  const names = { schema: { response: { 200: OptionNames } } };
  for (const url of ['/api/litellm-models', '/litellm-models']) app.get(url, names, async () => [...(await engine.models())]);
  for (const url of ['/api/litellm-agents', '/litellm-agents', '/api/agents']) app.get(url, names, async () => [...engine.agents]);
  for (const url of ['/api/default-model', '/default-model']) {
    app.get(
      url,
      { schema: { response: { 200: z.string() } } },
      async (_request, reply) => sendJsonText(reply, JSON.stringify(engine.defaultModel())) as never,
    );
  }
  // 0.3 sends all of it back as text in `initialize`, which is how it is known; paths of this machine are not part of it.
  for (const url of ['/api/configurations', '/configurations']) {
    app.get(url, { schema: { response: { 200: z.record(z.string(), z.unknown()) } } }, async () => ({
      LLM_MODEL: engine.defaultModel(),
      LLM_BASE_URL: null,
      AGENT: engine.agents[0],
      LANGUAGE: 'en',
      MAX_ITERATIONS: engine.settings.current?.max_iterations ?? 500,
      MAX_CHARS: 5_000_000,
      WORKSPACE_BASE: null,
      SANDBOX_TYPE: engine.sandbox.driver,
    }));
  }
  app.get('/api/defaults', { schema: { response: { 200: z.record(z.string(), z.unknown()) } } }, async () => ({
    llm: { model: field('str', engine.defaultModel()), api_key: field('str', null, true), base_url: field('str', null, true) },
    agent: { name: field('str', engine.agents[0]) },
    max_iterations: field('int', engine.settings.current?.max_iterations ?? 500),
    confirmation_mode: field('bool', engine.settings.current?.confirmation_mode ?? false),
  }));
};
