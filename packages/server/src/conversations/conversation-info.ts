import { z } from 'zod';
import { NetworkQuestion, ConversationInfo as WireInfo, INITIAL_STATE } from '@tendon/protocol';
import { type StoredConversation, summaryOf, type ConversationSummary } from './conversation-records.ts';
import { worksReadOnly } from './agents/agent-of.ts';
import type { Conversations } from './conversations.ts';

/** The last fields are ours; other clients do not know them. */
export const ConversationInfo = WireInfo.extend({
  agent_state: z.string(),
  /** Why, with `error` and `rate_limited`. */
  reason: z.string(),
  /** US dollars. */
  accumulated_cost: z.number(),
  /** Of answers whose price nobody knows; they are not part of the cost. */
  unpriced_tokens: z.number().int(),
  /** The model that gave the newest answer; `null`: none has answered, or that is not known. */
  answered_by: z.string().nullable(),
  /** The model of the next turn. */
  llm_model: z.string().nullable(),
  /** The agent of the next turn. */
  agent: z.string(),
  /** Its sandbox mounts the workspace read-only. */
  is_read_only: z.boolean(),
  /** The one that it goes on from, and the last event that both have. */
  /** In lists alone: what its sandbox wants to reach, and a person decides. */
  network_questions: z.array(NetworkQuestion).optional(),
  forked_from: z.object({ conversation_id: z.string(), event_id: z.number().int() }).nullable(),
  /** Where the server has users: who began it, and whether the other members of the organisation do not see it. */
  created_by: z.object({ id: z.string(), name: z.string() }).optional(),
  is_private: z.boolean().optional(),
  /** It stays, however long nobody uses it; missing: no. */
  is_pinned: z.boolean().optional(),
});
export type ConversationInfo = z.output<typeof ConversationInfo>;

/** What the server says of a conversation that has it open, and no other knows. */
export interface ConversationView {
  readonly summary: ConversationSummary;
  readonly connections: number;
  readonly updated_at: string;
}

/** Of those that other servers have open; what is missing is as its record says. */
export interface RemoteViews {
  views(ids: readonly string[]): Promise<ReadonlyMap<string, ConversationView>>;
}

/** `undefined`: this server does not have it open. */
export async function viewOf(id: string, conversations: Conversations): Promise<ConversationView | undefined> {
  const state = conversations.state(id);
  const record = state && (await conversations.get(id));
  return record && { summary: summaryOf(state), connections: conversations.connections(id), updated_at: record.updated_at };
}

export interface InfoContext {
  readonly conversations: Conversations;
  /** The model that the next turn of this conversation asks. */
  modelOf(record: StoredConversation): string;
}

/**
 * A conversation as clients see it, alike in lists and alone. Ready from the first moment: sandbox and agent start on first need,
 * and frontends before 0.40 break on `STARTING`.
 */
export function conversationInfo(
  record: StoredConversation,
  { conversations, modelOf }: InfoContext,
  remote?: ConversationView,
): ConversationInfo {
  const isStopped = record.stopped === true;
  const state = conversations.state(record.id);
  const summary = state ? summaryOf(state) : (remote?.summary ?? record.summary);
  return {
    conversation_id: record.id,
    title: record.title,
    last_updated_at: remote && remote.updated_at > record.updated_at ? remote.updated_at : record.updated_at,
    created_at: record.created_at,
    status: isStopped ? 'STOPPED' : 'RUNNING',
    runtime_status: isStopped ? null : 'STATUS$READY',
    selected_repository: record.selected_repository,
    selected_branch: record.selected_branch,
    git_provider: record.git_provider,
    trigger: record.trigger,
    num_connections: conversations.connections(record.id) + (remote?.connections ?? 0),
    url: isStopped ? null : `/api/conversations/${record.id}`,
    session_api_key: null,
    pr_number: [...(record.pr_number ?? [])],
    conversation_version: 'V0',
    agent_state: summary?.agent_state ?? INITIAL_STATE.agentState,
    reason: summary?.reason ?? '',
    accumulated_cost: summary?.accumulated_cost ?? 0,
    unpriced_tokens: summary?.unpriced_tokens ?? 0,
    answered_by: summary?.answered_by ?? null,
    llm_model: modelOf(record),
    agent: record.agent,
    is_read_only: worksReadOnly(record),
    forked_from: record.forked_from ?? null,
    ...(record.created_by && { created_by: record.created_by, is_private: record.is_private === true }),
    ...(record.is_pinned && { is_pinned: true }),
  };
}
