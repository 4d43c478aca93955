import { createHash } from 'node:crypto';
import type { StoredConversation } from './conversation-records.ts';
import { defaultTitle } from './conversation-title.ts';
import type { ConversationWish } from './conversation-wish.ts';

/** What has been made of a wish: the folder, and the network where one was wished for. */
interface Given {
  readonly workspace: string;
  readonly network: StoredConversation['network'];
  readonly now: string;
}

export function newRecord(id: string, wish: ConversationWish, { workspace, network, now }: Given): StoredConversation {
  return {
    id,
    title: defaultTitle(id),
    created_at: now,
    updated_at: now,
    workspace,
    agent: wish.agent || 'CodeActAgent',
    model: wish.model ?? '',
    trigger: wish.trigger ?? 'gui',
    selected_repository: wish.repository ?? null,
    selected_branch: wish.branch ?? null,
    git_provider: wish.gitProvider ?? null,
    ...(wish.confirmationMode !== undefined && { confirmation_mode: wish.confirmationMode }),
    ...(wish.maxIterations !== undefined && { max_iterations: wish.maxIterations }),
    ...(wish.instructions && { instructions: wish.instructions }),
    ...(wish.network && { network }),
    ...(wish.request && { request: wish.request }),
    ...(wish.toolServers !== undefined && { tool_servers: wish.toolServers }),
  };
}

/** The same for the same action, so that one asked again after a crash is found. */
export function delegatedId(parentId: string, actionId: number, attempt: number): string {
  return createHash('sha256').update(`${parentId}:${actionId}:${attempt}`).digest('hex').slice(0, 32);
}

/** In the folder and under the settings of the one that asks; a repository is there already. */
export function delegatedRecord(
  parent: StoredConversation,
  { id, agent, actionId, now }: { readonly id: string; readonly agent: string; readonly actionId: number; readonly now: string },
): StoredConversation {
  const {
    summary: _summary,
    repository_ready: _ready,
    pr_number: _pulls,
    request: _request,
    network_questions: _questions,
    ...inherited
  } = parent;
  return {
    ...inherited,
    stopped: false,
    selected_repository: null,
    id,
    agent,
    title: defaultTitle(id),
    created_at: now,
    updated_at: now,
    delegated_by: { conversation_id: parent.id, action_id: actionId },
  };
}
