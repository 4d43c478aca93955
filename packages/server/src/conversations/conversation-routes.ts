import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import {
  catalogError,
  ConversationAnswer,
  ConversationQuery,
  CreateConversation,
  Failure,
  MessageAction,
  repositoryOf,
  StartConversation,
  UpdateConversation,
  type CatalogError,
  type McpConfig,
  type Settings,
} from '@tendon/protocol';
import { loggedIdOf } from '@tendon/core';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { CreateConversationParams } from './create-conversation-params.ts';
import type { StoredConversation } from './conversation-records.ts';
import { readTrajectory } from '../replay/read-trajectory.ts';
import { readRepository } from '../git-providers/repository-source.ts';
import { startingWords, triggerOf } from './starting-words.ts';
import type { App, Routes } from '../platform/http/app.ts';
import { ConversationInfo, conversationInfo, type ConversationView, type InfoContext, type RemoteViews } from './conversation-info.ts';
import { ById, IdempotencyHeaders, requestId, optionalBody } from '../platform/http/request-parts.ts';
import { failureBody, sendFailure, sendJsonText } from '../platform/http/failure.ts';
import type { Conversations } from './conversations.ts';
import type { OwnedGitAccounts } from '../git-providers/owned-git-accounts.ts';
import { ownedByCaller } from '../platform/auth/own-scope.ts';
import type { Caller } from '../platform/auth/caller.ts';
import type { ConversationConfig } from '../platform/config/config.ts';
import type { Secret } from '@tendon/protocol/masking';

const Page = z.object({ results: z.array(ConversationInfo), next_page_id: z.string().nullable() });
const PageMark = z.object({ sort: z.string(), id: z.string() });

interface RoutesContext extends InfoContext {
  /** Unset: there is no other server. */
  readonly peers?: RemoteViews | undefined;
  readonly config: ConversationConfig;
  readonly jwtSecret: Secret;
  readonly gitAccounts: Pick<OwnedGitAccounts, 'of'>;
  readonly settings: { readonly mcpServers: McpConfig; readonly current: Pick<Settings, 'max_budget_per_task'> | undefined };
  readonly mcpServers: { sealed(given: McpConfig, settings: McpConfig, by: { readonly isAdmins: boolean }): string };
}

export const conversationRoutes: Routes<RoutesContext> = (app, context) => {
  creation(app, context);
  reading(app, context);
  changes(app, context);
  running(app, context);
};

function creation(app: App, context: RoutesContext): void {
  app.post(
    '/api/conversations',
    {
      schema: {
        headers: IdempotencyHeaders,
        body: optionalBody(CreateConversation),
        response: { 200: ConversationAnswer, '4xx': ConversationAnswer, 503: ConversationAnswer },
      },
    },
    async (request, reply) => {
      const { body } = request;
      const id = context.config.allowsChosenIds ? body.conversation_id?.replaceAll('-', '').toLowerCase() : undefined;
      const made = await create(context, body, { id, request: requestOf(request, context), by: request.principal });
      if ('code' in made) {
        const retryAfter = made.retryAfter ?? (made.status === 503 ? 1 : undefined);
        if (retryAfter !== undefined) void reply.header('retry-after', String(retryAfter));
        return reply.code(made.status).send({ ...failureBody(made), status: 'error' as const });
      }
      return { status: 'ok' as const, conversation_id: made.id, message: null, conversation_status: 'RUNNING' as const };
    },
  );
}

function reading(app: App, context: RoutesContext): void {
  app.get('/api/conversations', { schema: { querystring: ConversationQuery, response: { 200: Page } } }, async ({ query, principal }) => {
    const found = await findPage(context, query, principal);
    const remote = await remoteViews(found.records, context);
    return { results: found.records.map((record) => listedInfo(record, context, remote.get(record.id))), next_page_id: found.next };
  });

  app.get(
    '/api/microagent-management/conversations',
    { schema: { querystring: ConversationQuery, response: { 200: Page } } },
    async ({ query, principal }) => {
      const found = await findPage(context, { ...query, conversation_trigger: 'microagent_management' }, principal);
      const remote = await remoteViews(found.records, context);
      const results = found.records.map((record) => conversationInfo(record, context, remote.get(record.id)));
      return { results, next_page_id: found.next };
    },
  );

  app.get(
    '/api/conversations/:id',
    { schema: { params: ById, response: { 200: ConversationInfo.nullable() } } },
    async ({ params }, reply) => {
      const record = await context.conversations.get(params.id);
      return record ? conversationInfo(record, context) : sendJsonText(reply, 'null');
    },
  );
}

/** Where there are other servers. */
async function remoteViews(records: readonly StoredConversation[], { peers, conversations }: RoutesContext) {
  const ids = records.map(({ id }) => id).filter((id) => conversations.state(id) === undefined);
  return peers && ids.length > 0 ? peers.views(ids) : new Map<string, ConversationView>();
}

/** With what a person decides about its network, which who only watches it is not shown. */
function listedInfo(record: StoredConversation, context: RoutesContext, remote: ConversationView | undefined): ConversationInfo {
  const questions = context.conversations.questions.openIn(record);
  return { ...conversationInfo(record, context, remote), ...(questions.length > 0 && { network_questions: [...questions] }) };
}

function changes(app: App, { conversations }: RoutesContext): void {
  app.patch(
    '/api/conversations/:id',
    { schema: { params: ById, body: UpdateConversation, response: { 200: z.literal(true), '4xx': Failure } } },
    async ({ params: { id }, body, principal }, reply) => {
      const refusal = body.is_private === undefined ? undefined : await mayHide(conversations, id, principal);
      if (refusal) return sendFailure(reply, refusal);
      const changed = await update(conversations, id, body);
      if (changed === true) return true as const;
      if (changed) return sendFailure(reply, changed);
      const error = catalogError('CONVERSATION_NOT_FOUND', id);
      return reply.code(404).send({ ...failureBody(error), message: 'Conversation not found' });
    },
  );

  app.delete('/api/conversations/:id', { schema: { params: ById, response: { 200: z.boolean() } } }, ({ params }) =>
    conversations.delete(params.id),
  );
}

/** From whom it is hidden is decided by who began it, and by admins. */
async function mayHide(conversations: Conversations, id: string, { userId, scope }: Caller): Promise<CatalogError | undefined> {
  const isTheirs = userId !== undefined && (await conversations.get(id))?.created_by?.id === userId;
  return isTheirs || scope === 'admin' ? undefined : catalogError('SCOPE_TOO_NARROW', 'admin');
}

/** The agent first: the one change that can be refused. `undefined`: no such conversation. */
async function update(conversations: Conversations, id: string, body: UpdateConversation): Promise<true | CatalogError | undefined> {
  const { title, agent, llm_model: model, llm_effort: effort, llm_fallback_model: fallback, llm_small_model: small } = body;
  const chosen = agent === undefined ? undefined : await conversations.agents.setAgent(id, agent);
  if (chosen && 'code' in chosen) return chosen;
  if (agent !== undefined && !chosen) return undefined;
  if (model !== undefined && !(await conversations.agents.setModel(id, model))) return undefined;
  const others = {
    ...(effort !== undefined && { effort }),
    ...(fallback !== undefined && { fallback }),
    ...(small !== undefined && { small }),
  };
  if (body.is_private !== undefined && !(await conversations.visibility.setPrivate(id, body.is_private))) return undefined;
  if (body.is_pinned !== undefined && !(await conversations.ends.setPinned(id, body.is_pinned))) return undefined;
  if (Object.keys(others).length > 0 && !(await conversations.agents.setOtherModels(id, others))) return undefined;
  return title === undefined || (await conversations.rename(id, title)) ? true : undefined;
}

function running(app: App, { conversations }: RoutesContext): void {
  app.post(
    '/api/conversations/:id/start',
    { schema: { params: ById, body: StartConversation.nullish(), response: { 200: ConversationAnswer, 404: ConversationAnswer } } },
    async ({ params: { id } }, reply) => {
      if (!(await conversations.start(id))) return reply.code(404).send({ status: 'error' as const, conversation_id: id });
      return { status: 'ok' as const, conversation_id: id, message: null, conversation_status: 'RUNNING' as const };
    },
  );

  app.post(
    '/api/conversations/:id/stop',
    { schema: { params: ById, response: { 200: ConversationAnswer, 404: ConversationAnswer } } },
    async ({ params: { id }, principal }, reply) => {
      const stopped = await conversations.stop(id, principal);
      if (!stopped) return reply.code(404).send({ status: 'error' as const, conversation_id: id });
      return {
        status: 'ok' as const,
        conversation_id: id,
        message: stopped.wasRunning ? 'Conversation stopped successfully' : 'Conversation was not running',
        conversation_status: stopped.wasRunning ? ('RUNNING' as const) : ('STOPPED' as const),
      };
    },
  );
}

/** Makes it and hands it its first task, without waiting for the agent or the sandbox. */
async function create(
  { conversations, config, gitAccounts, settings, mcpServers }: RoutesContext,
  body: CreateConversation,
  { id, request, by }: Pick<CreateConversationParams, 'id' | 'request'> & { readonly by: Caller },
): Promise<StoredConversation | CatalogError> {
  const isAdmin = by.scope === 'admin';
  const replay = body.replay_json ? readTrajectory(body.replay_json) : undefined;
  if (replay && !replay.ok) return catalogError('INVALID_ARGUMENTS', `replay_json: ${replay.problem}`);
  const ceiling = isAdmin ? undefined : (settings.current?.max_budget_per_task ?? config.maxBudgetUsd);
  if (ceiling !== undefined && (body.max_budget_per_task ?? 0) > ceiling)
    return catalogError('INVALID_ARGUMENTS', `max_budget_per_task: this key may give at most $${ceiling}, as the settings do`);
  const repository = repositoryOf(body);
  const misread =
    repository &&
    readRepository({ repository, branch: body.selected_branch, provider: body.git_provider }, gitAccounts.of(ownedByCaller(by)));
  if (misread && !misread.ok) return catalogError('INVALID_ARGUMENTS', `repository: ${misread.problem}`);
  const created = await conversations.create({
    id,
    request,
    by,
    directory: body.directory ?? undefined,
    worktree: body.git_worktree ?? false,
    repository: repository ?? null,
    branch: body.selected_branch ?? null,
    gitProvider: body.git_provider ?? null,
    trigger: triggerOf(body),
    instructions: body.conversation_instructions ?? undefined,
    agent: body.agent ?? undefined,
    ...(body.llm_model && { model: body.llm_model }),
    confirmationPolicy: body.confirmation_policy ?? undefined,
    maxIterations: body.max_iterations ?? undefined,
    maxBudgetUsd: body.max_budget_per_task ?? undefined,
    replay: replay?.trajectory.answers,
    network: body.network ?? undefined,
    ...(body.mcp_config && { mcpServers: mcpServers.sealed(body.mcp_config, settings.mcpServers, { isAdmins: isAdmin }) }),
  });
  if (!created.ok) return created.error;
  const content = startingWords(body);
  if (!replay && content.trim() === '' && !body.image_urls?.length) return created.record;
  const task = replay?.trajectory.task ?? MessageAction.create({ content, image_urls: body.image_urls ?? null });
  // An earlier attempt created it, and may have been interrupted before the task.
  if (request && created.isRepeated && (await isInLog(conversations, created.record.id, request.id))) return created.record;
  const result = await conversations.submit(created.record.id, request ? { ...task, client_id: request.id } : task, { by });
  return result.ok ? created.record : result.error;
}

/** The digest of the body: with another one it is another request. */
function requestOf(request: FastifyRequest, context: RoutesContext): CreateConversationParams['request'] {
  const id = requestId(request, 'conversation', context);
  return id === undefined ? undefined : { id, digest: createHash('sha256').update(JSON.stringify(request.body)).digest('base64url') };
}

/** The task is one of the first events, so this reads one page unless the task is missing. */
async function isInLog(conversations: Conversations, id: string, clientId: string): Promise<boolean> {
  const log = await conversations.log(id);
  return log !== undefined && (await loggedIdOf(log, clientId)) !== undefined;
}

/** What is filtered is looked through in pieces of so many. */
const FILTERED_PAGE = 200;

async function findPage(
  { conversations }: RoutesContext,
  query: ConversationQuery,
  by: Caller,
): Promise<{ readonly records: readonly StoredConversation[]; readonly next: string | null }> {
  const found: StoredConversation[] = [];
  const titled = query.query?.trim() || undefined;
  const isFiltered = query.selected_repository || query.conversation_trigger || query.directory;
  const limit = isFiltered ? FILTERED_PAGE : query.limit + 1;
  let before = query.page_id === undefined ? undefined : readPageMark(query.page_id);
  for (;;) {
    const records = await conversations.list({ by, limit, ...(before && { before }), ...(titled && { titled }) });
    for (const record of records) {
      before = { sort: record.created_at, id: record.id };
      if (query.selected_repository && record.selected_repository !== query.selected_repository) continue;
      if (query.directory && record.workspace !== query.directory) continue;
      if (query.conversation_trigger && record.trigger !== query.conversation_trigger) continue;
      if (found.length === query.limit) return { records: found, next: pageMark(found.at(-1)!) };
      found.push(record);
    }
    if (records.length < limit) return { records: found, next: null };
    await setImmediate(); // clients are served between
  }
}

function pageMark(record: StoredConversation): string {
  return Buffer.from(JSON.stringify({ sort: record.created_at, id: record.id })).toString('base64url');
}

/** Anything but a mark of ours means the first page. */
function readPageMark(text: string): z.output<typeof PageMark> | undefined {
  try {
    return PageMark.parse(JSON.parse(Buffer.from(text, 'base64url').toString('utf8')));
  } catch {
    return undefined;
  }
}
