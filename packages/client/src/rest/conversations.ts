import type {
  AlwaysRule,
  ChangeConfirmation,
  CheckpointChanges,
  ConversationCheckpoints,
  ForkedConversation,
  ConfirmationRule,
  ConversationConfirmation,
  ConversationNetwork,
  ConversationQuestion,
  QuestionAnswer,
  DelegatedConversations,
  DelegatedQuestions,
  ConversationInfo as WireInfo,
  NetworkParams,
  ConversationModels,
  UpdateConversation,
  SearchAnswer,
  SendAnswer,
  NetworkAnswer,
  NetworkQuestion,
  RuleTrial,
  SavedRules,
  CreatedShare,
  ShareInfo,
} from '@tendon/protocol';
import { eventRoutes } from './events.ts';
import type { Request } from './request.ts';

/** What the server reports of a conversation. Other servers lack the fields that are Tendon's own. */
export type ConversationInfo = WireInfo & {
  readonly agent_state?: string;
  /** Why, with `error` and `rate_limited`. */
  readonly reason?: string;
  /** US dollars. */
  readonly accumulated_cost?: number;
  /** Of answers whose price nobody knows; they are not part of the cost. */
  readonly unpriced_tokens?: number;
  /** The model that gave the newest answer; `null`: none has answered, or that is not known. */
  readonly answered_by?: string | null;
  /** Of the next turn. */
  readonly llm_model?: string | null;
  /** Of the next turn. */
  readonly agent?: string;
  /** The one that it goes on from, and the last event that both have. */
  readonly forked_from?: { readonly conversation_id: string; readonly event_id: number } | null;
  /** In lists alone: what its sandbox wants to reach, and a person decides. */
  readonly network_questions?: readonly NetworkQuestion[];
  /** The agent can change nothing in the workspace. */
  readonly is_read_only?: boolean;
  /** It stays, however long nobody uses it. */
  readonly is_pinned?: boolean;
};

export interface ConversationPage {
  readonly results: readonly ConversationInfo[];
  readonly next_page_id: string | null;
}

export interface NewConversation {
  readonly initial_user_msg?: string;
  readonly image_urls?: readonly string[];
  readonly repository?: string;
  readonly git_provider?: string;
  readonly selected_branch?: string;
  readonly conversation_instructions?: string;
  /** A folder of the server's machine. */
  readonly directory?: string;
  /** In a copy of that folder, with its git history. */
  readonly git_worktree?: boolean;
}

export interface WebHosts {
  readonly hosts: Readonly<Record<string, number>>;
  readonly error?: string;
}

export interface Created {
  readonly status: 'ok';
  readonly conversation_id: string;
  readonly conversation_status: ConversationInfo['status'];
}

const at = (id: string, rest = '') => `/api/conversations/${encodeURIComponent(id)}${rest}`;

export function conversationRoutes(request: Request) {
  return {
    /** `directory`: those that work in this folder of the server's machine. */
    list: (
      options: { readonly limit?: number; readonly pageId?: string; readonly directory?: string; readonly signal?: AbortSignal } = {},
    ) =>
      request<ConversationPage>('/api/conversations', {
        query: { limit: options.limit ?? 100, page_id: options.pageId, directory: options.directory },
        ...(options.signal && { signal: options.signal }),
      }),
    /** `null` when the server does not know it. `share`: the token of a link to it, instead of a key. */
    get: (id: string, signal?: AbortSignal, share?: string) =>
      request<ConversationInfo | null>(at(id), { ...(signal && { signal }), ...(share && { query: { share } }) }),
    /** With the `idempotencyKey` of an unanswered request this repeats that request: one conversation is created, and its task sent once. */
    create: (body: NewConversation = {}, options: { readonly idempotencyKey?: string } = {}) =>
      request<Created>('/api/conversations', { method: 'POST', body, ...options }),
    rename: (id: string, title: string) => request<boolean>(at(id), { method: 'PATCH', body: { title } }),
    /** The agent and the model of the next turn; refused while the agent works. */
    choose: (id: string, body: Omit<UpdateConversation, 'title'>) => request<boolean>(at(id), { method: 'PATCH', body }),
    /** One that is pinned stays, however long nobody uses it. */
    pin: (id: string, is_pinned: boolean) => request<boolean>(at(id), { method: 'PATCH', body: { is_pinned } }),
    /** What it asks from its next turn on, and who chose each. */
    models: (id: string) => request<ConversationModels>(at(id, '/models')),
    /** `false` when the server did not know it. */
    delete: (id: string) => request<boolean>(at(id), { method: 'DELETE' }),
    start: (id: string) => request<Created>(at(id, '/start'), { method: 'POST', body: {} }),
    stop: (id: string) => request<Created>(at(id, '/stop'), { method: 'POST', body: {} }),
    /** What its programs serve, by link; `error` says why there can be no links. */
    webHosts: (id: string) => request<WebHosts>(at(id, '/web-hosts')),
    /** Where its sandbox may connect to, and what was refused. */
    network: (id: string) => request<ConversationNetwork>(at(id, '/network')),
    setNetwork: (id: string, body: NetworkParams) => request<ConversationNetwork>(at(id, '/network'), { method: 'PUT', body }),
    /** Of a host that its sandbox wants to reach. */
    answerNetwork: (id: string, body: NetworkAnswer) => request<ConversationNetwork>(at(id, '/network/answer'), { method: 'POST', body }),
    /** In every conversation; needs the scope `admin`. */
    allowAlways: (id: string, host: string) => request<ConversationNetwork>(at(id, '/network/always'), { method: 'POST', body: { host } }),
    /** Which actions wait for a person, and what would allow the one that waits. */
    confirmation: (id: string) => request<ConversationConfirmation>(at(id, '/confirmation')),
    /** From its next action on; what waits and is allowed by it runs. `null`: as for all conversations. */
    setPolicy: (id: string, body: Pick<ChangeConfirmation, 'policy' | 'analyzer'>) =>
      request<ConversationConfirmation>(at(id, '/confirmation'), { method: 'PUT', body }),
    /** In place of the rules of this conversation. */
    setRules: (id: string, rules: readonly ConfirmationRule[]) =>
      request<ConversationConfirmation>(at(id, '/confirmation'), { method: 'PUT', body: { rules } }),
    /** Saved for this conversation alone, one by one. */
    rules: async (id: string) => (await request<SavedRules>(at(id, '/confirmation/rules'))).rules,
    addRules: (id: string, rules: readonly ConfirmationRule[]) =>
      request<SavedRules>(at(id, '/confirmation/rules'), { method: 'POST', body: { rules } }),
    /** How many of the last decisions in it these rules would have made; nothing is saved. */
    tryRules: (id: string, rules: readonly ConfirmationRule[]) =>
      request<RuleTrial>(at(id, '/confirmation/trial'), { method: 'POST', body: { rules } }),
    removeRule: (id: string, rule: string) => request<SavedRules>(at(id, `/confirmation/rules/${rule}`), { method: 'DELETE' }),
    /** In other conversations too; needs the scope `admin`. */
    alwaysAllow: (id: string, body: AlwaysRule) =>
      request<ConversationConfirmation>(at(id, '/confirmation/always'), { method: 'POST', body }),
    /** Where the agents work to which its agent has delegated. */
    delegated: (id: string) => request<DelegatedConversations>(at(id, '/delegated')),
    /** What agents wait for to which its agent has delegated. */
    delegatedQuestions: (id: string) => request<DelegatedQuestions>(at(id, '/delegated/questions')),
    answerDelegated: (id: string, child: string, body: QuestionAnswer) =>
      request<DelegatedQuestions>(at(id, `/delegated/questions/${encodeURIComponent(child)}`), { method: 'POST', body }),
    /** What it waits for; `null`: nothing, or it needs no person. */
    question: async (id: string, signal?: AbortSignal) =>
      (await request<ConversationQuestion>(at(id, '/question'), { ...(signal && { signal }) })).question,
    /** Refused where something else waits by now. */
    answer: (id: string, body: QuestionAnswer) => request<SendAnswer>(at(id, '/question'), { method: 'POST', body }),
    /** Where these words stand, in all conversations. */
    search: (query: string, signal?: AbortSignal) => request<SearchAnswer>('/api/search', { query: { query }, ...(signal && { signal }) }),
    /** The states of its workspace that can be restored. */
    checkpoints: (id: string) => request<ConversationCheckpoints>(at(id, '/checkpoints')),
    /** What restoring this one would do to the files as they are. */
    checkpointChanges: (id: string, number: number) => request<CheckpointChanges>(at(id, `/checkpoints/${number}/changes`)),
    /** `before`: the message or step before which the conversation goes on; default: the step of the checkpoint. */
    restore: (id: string, number: number, what: 'files' | 'conversation' | 'both', before?: number) =>
      request<unknown>(at(id, `/checkpoints/${number}/restore`), { method: 'POST', body: { what, before } }),
    /** Takes back what a step did to these files. */
    restorePaths: (id: string, number: number, paths: readonly string[]) =>
      request<unknown>(at(id, `/checkpoints/${number}/restore`), { method: 'POST', body: { what: 'files', paths } }),
    /** A second conversation, which has the events up to this one. */
    fork: (id: string, event: number) => request<ForkedConversation>(at(id, '/fork'), { method: 'POST', body: { event } }),
    ...eventRoutes(request),
  };
}

const sharesOf = (id: string, rest = '') => `/api/conversations/${encodeURIComponent(id)}/shares${rest}`;

/** Links that show one conversation and let nobody do anything. */
export function shareRoutes(request: Request) {
  return {
    list: async (id: string): Promise<readonly ShareInfo[]> =>
      (await request<{ readonly shares: readonly ShareInfo[] }>(sharesOf(id))).shares,
    /** The only time that the link itself is shown. */
    create: (id: string, seconds: number) => request<CreatedShare>(sharesOf(id), { method: 'POST', body: { expires_in: seconds } }),
    revoke: (id: string, share: string) => request<unknown>(sharesOf(id, `/${encodeURIComponent(share)}`), { method: 'DELETE' }),
  };
}
