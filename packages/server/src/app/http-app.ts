import { failureFor } from '@tendon/core';
import { catalogError, validationFailure } from '@tendon/protocol';
import { fastify, type FastifyError, type FastifyReply, type FastifyRequest } from 'fastify';
import { z } from 'zod';
import { guard } from '../platform/http/guard.ts';
import { MAX_BODY_BYTES, type App, type Routes, dropUnusedBodies, refuseEncodedBodies, zodCompilers } from '../platform/http/app.ts';
import type { ServerContext } from './context.ts';
import { fail, sendFailure } from '../platform/http/failure.ts';
import { limitRate } from '../platform/http/rate-limit.ts';
import { limitRoutes } from '../limits/limit-routes.ts';
import { retentionRoutes } from '../retention/retention-routes.ts';
import { auditRoutes } from '../audit/audit-routes.ts';
import { actionOutputRoutes } from '../files/action-output-routes.ts';
import { backendSettingsRoutes, settingsRoutes, optionRoutes } from '../settings/settings-routes.ts';
import { conversationEventRoutes } from '../events/event-routes.ts';
import { searchRoutes } from '../events/search-routes.ts';
import { checkpointRoutes } from '../checkpoints/checkpoint-routes.ts';
import { forkRoutes } from '../checkpoints/fork-routes.ts';
import { conversationFileRoutes, conversationTransferRoutes } from '../files/file-routes.ts';
import { conversationGitRoutes } from '../git/workspace-git-routes.ts';
import { changesRoutes } from '../review/changes-routes.ts';
import { revertRoutes } from '../review/revert-routes.ts';
import { workspaceRepositoryRoutes } from '../review/repository-routes.ts';
import { conversationKnowledgeRoutes } from '../knowledge/knowledge-routes.ts';
import { extensionRoutes } from '../extensions/extension-routes.ts';
import { noteRoutes } from '../knowledge/note-routes.ts';
import { ruleRoutes } from '../conversations/confirmation/rule-routes.ts';
import { conversationConfirmationRoutes } from '../conversations/confirmation/confirmation-routes.ts';
import { delegatedQuestionRoutes } from '../conversations/delegated/delegated-question-routes.ts';
import { questionRoutes } from '../conversations/question-routes.ts';
import { conversationNetworkRoutes } from '../conversations/network/network-routes.ts';
import { conversationPanelRoutes } from '../previews/panel-routes.ts';
import { conversationRoutes } from '../conversations/conversation-routes.ts';
import { gitProviderRepositoryRoutes } from '../git-providers/repository-routes.ts';
import { gitProviderUserRoutes } from '../git-providers/user-routes.ts';
import { clusterRoutes, healthRoutes, schemaRoutes, v1Routes } from './server-routes.ts';
import { keyRoutes } from '../access/key-routes.ts';
import { legacyRoutes } from '../compat/opendevin/routes/legacy-routes.ts';
import { loginRoutes } from '../access/login-routes.ts';
import { modelRoutes } from '../settings/model-routes.ts';
import { mcpTestRoutes } from '../mcp/mcp-test-routes.ts';
import { mcpLoginRoutes } from '../mcp/oauth/mcp-login-routes.ts';
import { mcpRoutes } from '../mcp/mcp-routes.ts';
import { sandboxRoutes } from '../sandboxes/sandbox-routes.ts';
import { pushRoutes } from '../push/push-routes.ts';
import { secretRoutes } from '../secrets/secret-routes.ts';
import { shareRoutes } from '../access/share-routes.ts';
import { erasureRoutes } from '../erasure/erasure-routes.ts';
import { userRoutes } from '../access/user-routes.ts';
import { triggerRoutes } from '../triggers/trigger-routes.ts';
import { webhookRoutes } from '../triggers/webhook-routes.ts';
import { webAppRoutes } from '../web-app/web-app-routes.ts';

/** Every REST resource; the last one catches what is left. */
const RESOURCES: readonly Routes<ServerContext>[] = [
  healthRoutes,
  clusterRoutes,
  backendSettingsRoutes,
  optionRoutes,
  settingsRoutes,
  modelRoutes,
  secretRoutes,
  keyRoutes,
  auditRoutes,
  userRoutes,
  erasureRoutes,
  limitRoutes,
  retentionRoutes,
  loginRoutes,
  gitProviderUserRoutes,
  gitProviderRepositoryRoutes,
  conversationRoutes,
  conversationEventRoutes,
  searchRoutes,
  actionOutputRoutes,
  conversationFileRoutes,
  checkpointRoutes,
  forkRoutes,
  conversationTransferRoutes,
  conversationGitRoutes,
  changesRoutes,
  revertRoutes,
  workspaceRepositoryRoutes,
  conversationKnowledgeRoutes,
  noteRoutes,
  extensionRoutes,
  conversationPanelRoutes,
  conversationConfirmationRoutes,
  ruleRoutes,
  conversationNetworkRoutes,
  delegatedQuestionRoutes,
  questionRoutes,
  shareRoutes,
  pushRoutes,
  v1Routes,
  mcpRoutes,
  mcpLoginRoutes,
  mcpTestRoutes,
  legacyRoutes,
  sandboxRoutes,
  triggerRoutes,
  webhookRoutes,
  schemaRoutes,
  webAppRoutes,
];

/** The HTTP side of the server, not listening yet; it logs through its hooks. `extend` adds to it before the routes, e.g. to record them. */
export async function createApp(context: ServerContext, extend?: (app: App) => Promise<void>): Promise<App> {
  const { timeouts } = context;
  const app: App = fastify({
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: timeouts.requestMs,
    http: { headersTimeout: timeouts.headersMs, connectionsCheckingInterval: timeouts.checkMs },
    forceCloseConnections: true,
    schemaController: zodCompilers,
    routerOptions: { maxParamLength: 200, ignoreTrailingSlash: true },
    exposeHeadRoutes: true,
  });
  acceptEmptyJson(app);
  context.tracing?.requests(app);
  guard(app, context);
  refuseEncodedBodies(app);
  dropUnusedBodies(app);
  context.audit?.requests(app);
  limitRate(app, () => context.clock.now().getTime());
  app.setErrorHandler<FastifyError>((error, request, reply) => answerError(error, request, reply, context));
  app.setNotFoundHandler((_request, reply) => fail(reply, 'NOT_FOUND'));
  await extend?.(app);
  for (const routes of RESOURCES) routes(app, context);
  return app;
}

/** Old clients announce JSON and send nothing. */
function acceptEmptyJson(app: App): void {
  const parse = app.getDefaultJsonParser('remove', 'remove');
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body: string, done) => {
    if (body.trim() === '') done(null, {});
    else parse(request, body, done);
  });
}

/** Two old routes have words of their own for what does not fit. */
function answerMisfit(error: z.ZodError, context: string | undefined, reply: FastifyReply): FastifyReply {
  if (context === 'params') return fail(reply, 'CONVERSATION_ID_INVALID');
  if (context === 'querystring' && error.issues[0]?.path[0] === 'limit') return reply.code(400).send({ detail: 'Invalid limit' });
  return reply.code(422).send(validationFailure(error, context === 'querystring' ? 'query' : 'body'));
}

function answerError(error: FastifyError, request: FastifyRequest, reply: FastifyReply, { logger }: ServerContext): FastifyReply {
  if (error instanceof z.ZodError) return answerMisfit(error, error.validationContext, reply);
  if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE')
    return fail(reply, 'FRAME_TOO_LARGE', `${(request.routeOptions.bodyLimit ?? MAX_BODY_BYTES) / 1024 ** 2} MB`);
  if (error instanceof SyntaxError || error.code === 'FST_ERR_CTP_INVALID_JSON_BODY') return fail(reply, 'INVALID_JSON');
  if (error.statusCode !== undefined && error.statusCode < 500) {
    return sendFailure(reply, { ...catalogError('INVALID_ARGUMENTS', error.message), status: error.statusCode });
  }
  logger.error({ err: error, route: request.routeOptions.url }, 'a request failed');
  return sendFailure(reply, failureFor(error));
}
