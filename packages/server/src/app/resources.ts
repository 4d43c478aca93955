import type { Routes } from '../platform/http/app.ts';
import type { ServerContext } from './context.ts';
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
import { ruleTrialRoutes } from '../conversations/confirmation/trial-routes.ts';
import { conversationConfirmationRoutes } from '../conversations/confirmation/confirmation-routes.ts';
import { delegatedQuestionRoutes } from '../conversations/delegated/delegated-question-routes.ts';
import { questionRoutes } from '../conversations/question-routes.ts';
import { conversationNetworkRoutes } from '../conversations/network/network-routes.ts';
import { conversationPanelRoutes } from '../previews/panel-routes.ts';
import { conversationRoutes } from '../conversations/conversation-routes.ts';
import { gitProviderRepositoryRoutes } from '../git-providers/repository-routes.ts';
import { gitProviderUserRoutes } from '../git-providers/user-routes.ts';
import { healthRoutes } from './health-routes.ts';
import { clusterRoutes, schemaRoutes, v1Routes } from './server-routes.ts';
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
export const RESOURCES: readonly Routes<ServerContext>[] = [
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
  ruleTrialRoutes,
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
