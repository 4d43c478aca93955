import { z } from 'zod';
import { ConfirmationMode } from './confirmation.ts';
import { GivenMcpConfig } from './mcp-config.ts';
import { ModelEffort, ModelName } from './models.ts';
import { NetworkParams } from './network.ts';

/** 32 hexadecimal digits, lower case. */
const conversationId = z.string().regex(/^[0-9a-f]{32}$/);

/** Frontends before 0.40 break on anything but `RUNNING` and `STOPPED`; those before 0.55 on `ARCHIVED` and `ERROR`. */
const conversationStatus = z.enum(['STARTING', 'RUNNING', 'STOPPED', 'ARCHIVED', 'ERROR']);

/** One conversation, complete in lists too: 0.62 puts list items into its cache of the single answer. */
export const ConversationInfo = z.object({
  conversation_id: conversationId,
  title: z.string(),
  /** UTC ISO 8601 with `Z`, like every time here. */
  last_updated_at: z.string(),
  created_at: z.string(),
  status: conversationStatus,
  /** `STATUS$READY` and the like. 0.43+ opens its socket only when this is set and not `STATUS$STOPPED`. */
  runtime_status: z.string().nullable(),
  selected_repository: z.string().nullable(),
  selected_branch: z.string().nullable(),
  git_provider: z.string().nullable(),
  trigger: z.string().nullable(),
  num_connections: z.number().int(),
  /** Base of all calls about this conversation; relative means this server. `null` while stopped. */
  url: z.string().nullable(),
  session_api_key: z.string().nullable(),
  pr_number: z.array(z.number().int()),
  conversation_version: z.literal('V0'),
});
export type ConversationInfo = z.output<typeof ConversationInfo>;

/** `limit` 1…100, `page_id` opaque. Newest first by `created_at`. */
export const ConversationQuery = z.object({
  limit: z.coerce.number().int().min(1).max(100).default(20),
  page_id: z.string().optional(),
  selected_repository: z.string().optional(),
  conversation_trigger: z.string().optional(),
  /** Ours: the real path of the folder of the server's machine that they work in. */
  directory: z.string().max(4096).optional(),
  /** Ours: words of the title, in any letter case. */
  query: z.string().max(1_000).optional(),
});
export type ConversationQuery = z.output<typeof ConversationQuery>;

export interface ConversationPage {
  readonly results: readonly ConversationInfo[];
  readonly next_page_id: string | null;
}

/** 0.33–0.36 send the whole repository where others send its name. */
const repository = z.union([z.string(), z.looseObject({ full_name: z.string() })]).nullish();

/** The bodies of all releases in one. Unknown keys are dropped, not refused: older clients would not work otherwise. */
export const CreateConversation = z.object({
  repository,
  selected_repository: repository,
  git_provider: z.string().nullish(),
  selected_branch: z.string().nullish(),
  initial_user_msg: z.string().nullish(),
  image_urls: z.array(z.string()).nullish(),
  /** A trajectory as JSON text, or the array itself; its first event is a user's message. */
  replay_json: z.union([z.string(), z.array(z.unknown()), z.object({ trajectory: z.array(z.unknown()) })]).nullish(),
  suggested_task: z.looseObject({}).nullish(),
  create_microagent: z.looseObject({ repo: z.string() }).nullish(),
  conversation_instructions: z.string().max(100_000).nullish(),
  /** MCP servers, in place of the settings'. */
  mcp_config: GivenMcpConfig.nullish(),
  /** An id of the client's choice, where the server allows it: 32 hexadecimal digits, or a UUID. */
  conversation_id: z
    .string()
    .regex(/^(?:[0-9a-f]{32}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i, '32 hexadecimal digits or a UUID are expected')
    .nullish(),
  /** Ours: a folder of the server's machine to work in; `DIRECTORY_NOT_ALLOWED` outside WORKSPACE_BASE. */
  directory: z.string().nullish(),
  /** Ours: in a copy of that folder, with its git history, so that conversations in one folder do not meet. */
  git_worktree: z.boolean().nullish(),
  /** Ours: one that is built in or the user's own; default: that of the settings. */
  agent: z.string().max(200).nullish(),
  /** Ours: its model, as for `PATCH`. */
  llm_model: z.string().min(1).max(200).nullish(),
  /** Ours: what of it waits for a person, in place of the settings. */
  confirmation_policy: ConfirmationMode.nullish(),
  /** Ours: the model's answers to one message, in place of the settings. */
  max_iterations: z.number().int().min(1).max(100_000).nullish(),
  /** Ours: US dollars, in place of the settings. */
  max_budget_per_task: z.number().positive().max(1_000_000).nullish(),
  /** Ours: where its sandbox may connect to. */
  network: NetworkParams.nullish(),
});
export type CreateConversation = z.output<typeof CreateConversation>;

/** `owner/name`, wherever the client's release puts it. */
export function repositoryOf(body: CreateConversation): string | undefined {
  const value = body.repository ?? body.selected_repository;
  return (typeof value === 'string' ? value : value?.full_name) || undefined;
}

/** Of create, start and stop. */
export const ConversationAnswer = z.object({
  status: z.enum(['ok', 'error']),
  conversation_id: z.string().optional(),
  message: z.string().nullable().optional(),
  msg_id: z.string().optional(),
  /** Of `stop`: the status before it. */
  conversation_status: conversationStatus.optional(),
});
export type ConversationAnswer = z.output<typeof ConversationAnswer>;

export const StartConversation = z.object({ providers_set: z.array(z.string()).nullish() });
export type StartConversation = z.output<typeof StartConversation>;

/** Ours: the agent and the model of the next turn. */
export const UpdateConversation = z
  .strictObject({
    title: z.string().min(1).max(200).optional(),
    agent: z.string().min(1).max(200).optional(),
    llm_model: z.string().min(1).max(200).optional(),
    /** Of this conversation alone; `null`: as the settings have it. So with the next two. */
    llm_effort: ModelEffort.nullable().optional(),
    llm_fallback_model: ModelName.nullable().optional(),
    llm_small_model: ModelName.nullable().optional(),
    /** Where the server has users: of the organisation's members only who began it and its admins see it. */
    is_private: z.boolean().optional(),
    /** It stays, however long nobody uses it. */
    is_pinned: z.boolean().optional(),
  })
  .refine((body) => Object.keys(body).length > 0, { error: 'a title, an agent or a model is expected', path: ['title'] });
export type UpdateConversation = z.output<typeof UpdateConversation>;

export const ConversationConfig = z.object({ runtime_id: z.string().nullable(), session_id: z.string() });
export type ConversationConfig = z.output<typeof ConversationConfig>;

/** Address → port of what listens in the sandbox; `error` says why there can be none. */
export const WebHosts = z.object({ hosts: z.record(z.string(), z.number().int()), error: z.string().optional() });
export type WebHosts = z.output<typeof WebHosts>;

export const VscodeUrl = z.object({ vscode_url: z.string().nullable(), error: z.string().optional() });
export type VscodeUrl = z.output<typeof VscodeUrl>;

export const Microagents = z.object({
  microagents: z.array(
    z.object({
      name: z.string(),
      type: z.enum(['repo', 'knowledge']),
      content: z.string(),
      triggers: z.array(z.string()),
      inputs: z.array(z.unknown()),
      tools: z.array(z.unknown()),
    }),
  ),
});
export type Microagents = z.output<typeof Microagents>;
