import { randomUUID } from 'node:crypto';
import { catalogError, Failure, TokenAnswer, OptionNames } from '@tendon/protocol';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Routes, App } from '../../../platform/http/app.ts';
import { fileRoutes, type FileContext, uploadRoutes, type UploadContext } from './file-routes.ts';
import { messageRoutes } from './message-routes.ts';
import { taskRoutes } from './task-routes.ts';
import { signToken } from '../../../platform/auth/token.ts';
import { WsSessions } from '../sockets/ws-sessions.ts';
import { sendFailure, fail, sendJsonText } from '../../../platform/http/failure.ts';
import { readBearer, type BearerContext, conversationMeant, forward, sendForwarded, type ForwardContext } from './forward.ts';
import type { SettingsStore } from '../../../settings/settings.ts';

/** REST beside `/ws`, March to November 2024: no conversation in the path, the token says which is meant. */
export const legacyRoutes: Routes<CatalogContext & FileContext & UploadContext> = (app, context) => {
  for (const routes of [tokenRoutes, catalogRoutes, messageRoutes, taskRoutes, fileRoutes, uploadRoutes, forwardedRoutes])
    routes(app, context);
};

/** Tokens of opendevin-2024-04 to opendevin-2024-06: a good old one keeps its session. `/auth` is how the first days called it. */
const tokenRoutes: Routes<BearerContext> = (app, context) => {
  for (const url of ['/api/auth', '/auth']) {
    app.get(url, { schema: { response: { 200: TokenAnswer, '4xx': Failure } } }, async (request, reply) => {
      const bearer = await readBearer(request, context);
      if (bearer.state === 'absent')
        return sendFailure(reply, { ...catalogError('UNAUTHORIZED'), status: 403, message: 'Not authenticated' });
      const sid = bearer.state === 'session' ? bearer.sid : randomUUID();
      const sessions = WsSessions.of(context);
      sessions.reload(sid);
      await sessions.change(sid, (record) => (record.isFromAuth ? record : { ...record, isFromAuth: true }));
      return { token: await signToken(sid, context.jwtSecret), status: 'ok' as const };
    });
  }
  /** opendevin-2024-11 asks at load whether somebody is logged in; who got here may be. */
  app.post('/api/authenticate', { schema: { hide: true } }, async () => ({ message: 'User authenticated' }));
};

/** Method, name from 0.6 to 0.17, and the route of today under the conversation that has the same answer. */
const FORWARDED = [
  ['POST', 'submit-feedback', 'submit-feedback'],
  ['GET', 'zip-directory', 'zip-directory'],
  ['GET', 'vscode-url', 'vscode-url'],
  ['GET', 'conversation', 'config'],
  ['GET', 'events/search', 'events'],
] as const;

const forwardedRoutes: Routes<BearerContext & ForwardContext> = (app, context) => {
  const schema = { hide: true };
  for (const [method, name, path] of FORWARDED) {
    app.route({ method, url: `/api/${name}`, schema, handler: (request, reply) => pass(app, context, request, reply, path) });
  }
  app.route({
    method: ['GET', 'POST', 'PUT', 'DELETE'],
    url: '/api/security/*',
    schema,
    handler: (request, reply) => {
      const { '*': rest } = request.params as { '*': string };
      // The inner request is ours: what leads out of its folder would be asked with our own rights.
      if (/(?:^|[/\\])\.{1,2}(?:[/\\]|$)/.test(rest)) return fail(reply, 'NOT_FOUND');
      return pass(app, context, request, reply, `security/${rest.split('/').map(encodeURIComponent).join('/')}`);
    },
  });
};

async function pass(
  app: App,
  context: BearerContext & ForwardContext,
  request: FastifyRequest,
  reply: FastifyReply,
  path: string,
): Promise<FastifyReply> {
  const conversation = await conversationMeant(request, context);
  if (typeof conversation !== 'string') return sendFailure(reply, conversation);
  const query = request.url.split('?').slice(1).join('?');
  return sendForwarded(reply, await forward(app, context, request, { conversation, path: query === '' ? path : `${path}?${query}` }));
}

const field = (type: string, value: unknown, optional = false) => ({ type, optional, default: value });

/** What the settings dialogs of spring 2024 choose from, under the names of every week. */
interface CatalogContext {
  agents(): Promise<readonly string[]>;
  readonly settings: SettingsStore;
  readonly sandbox: { readonly driver: string };
  models(): Promise<readonly string[]>;
  defaultModel(): string;
}

const catalogRoutes: Routes<CatalogContext> = (app, context) => {
  const names = { schema: { response: { 200: OptionNames } } };
  for (const url of ['/api/litellm-models', '/litellm-models']) app.get(url, names, async () => [...(await context.models())]);
  for (const url of ['/api/litellm-agents', '/litellm-agents', '/api/agents'])
    app.get(url, names, async () => [...(await context.agents())]);
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
      AGENT: (await context.agents())[0],
      LANGUAGE: 'en',
      MAX_ITERATIONS: context.settings.current?.max_iterations ?? 500,
      MAX_CHARS: 5_000_000,
      WORKSPACE_BASE: null,
      SANDBOX_TYPE: context.sandbox.driver,
    }));
  }
  app.get('/api/defaults', { schema: { response: { 200: z.record(z.string(), z.unknown()) } } }, async () => ({
    llm: { model: field('str', context.defaultModel()), api_key: field('str', null, true), base_url: field('str', null, true) },
    agent: { name: field('str', (await context.agents())[0]) },
    max_iterations: field('int', context.settings.current?.max_iterations ?? 500),
    confirmation_mode: field('bool', context.settings.current?.confirmation_mode ?? false),
  }));
};
