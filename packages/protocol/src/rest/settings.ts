import { z } from 'zod';
import { ConfirmationMode, ConfirmationRules } from './confirmation.ts';
import { GivenMcpConfig, McpConfig } from './mcp-config.ts';
import { ModelEffort, ModelName } from './models.ts';
import { NetworkAllow, NetworkMode } from './network.ts';

/** `http://host:port`; each has a place in the policy of the page, so it is nothing but that. */
const ServerOrigin = z
  .string()
  .max(200)
  .regex(/^https?:\/\/(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(?::\d{1,5})?$/);

const flag = z.boolean().nullish();
const text = z.string().nullish();

/**
 * The body of `POST /api/settings`, every release's keys in one. What is absent keeps its stored value, whatever it is; so does
 * `null` for `llm_api_key`, `llm_model`, `llm_base_url`, `search_api_key`, `user_consents_to_analytics`, and otherwise means the default.
 * Keys: `""` clears; a mask (`isMaskedKey`) keeps. Unknown keys are dropped.
 */
export const SettingsUpdate = z.object({
  language: text,
  agent: text,
  max_iterations: z.number().int().positive().nullish(),
  security_analyzer: text,
  confirmation_mode: flag,
  /** `null`: of `confirmation_mode` and `security_analyzer`, as OpenHands means them. */
  confirmation_policy: ConfirmationMode.nullish(),
  confirmation_rules: ConfirmationRules.nullish(),
  /** Seconds after which an action that nobody decided about is rejected; `null`: it waits. */
  confirmation_timeout: z.number().int().positive().max(1_000_000).nullish(),
  llm_model: text,
  llm_api_key: text,
  llm_base_url: text,
  /** `null`: as the server was started, else as each vendor sets it. */
  llm_effort: ModelEffort.nullish(),
  /** Answers when the model cannot; `null`: as the server was started. Without a key and an address of its own it has the model's. */
  llm_fallback_model: ModelName.nullish(),
  llm_fallback_api_key: text,
  llm_fallback_base_url: text,
  /** Does what needs less, in the same way. */
  llm_small_model: ModelName.nullish(),
  llm_small_api_key: text,
  llm_small_base_url: text,
  remote_runtime_resource_factor: z.number().nullish(),
  enable_default_condenser: flag,
  enable_sound_notifications: flag,
  enable_proactive_conversation_starters: flag,
  enable_solvability_analysis: flag,
  user_consents_to_analytics: flag,
  sandbox_base_container_image: text,
  sandbox_runtime_container_image: text,
  mcp_config: GivenMcpConfig.nullish(),
  search_api_key: text,
  sandbox_api_key: text,
  max_budget_per_task: z.number().nonnegative().nullish(),
  condenser_max_size: z.number().int().min(20).nullish(),
  /** Commands that must pass before an agent's task counts as finished. */
  finish_checks: z.array(z.string().trim().min(1).max(2_000)).max(8).nullish(),
  /** Other servers that the web app of this one may speak to; their keys stay in the browser. */
  connected_servers: z.array(ServerOrigin).max(16).nullish(),
  git_user_name: text,
  git_user_email: text,
  /** The network of conversations that have no mode of their own, no wider than the server's; `null` is the server's. */
  sandbox_network: NetworkMode.nullish(),
  /** The names that the policy `allowlist` opens in every conversation, beside the server's. */
  sandbox_network_allow: NetworkAllow.nullish(),
  /** 0.25. */
  github_token: text,
  /** 0.30: `{github: "token"}`. */
  provider_tokens: z.record(z.string(), z.unknown()).nullish().catch(undefined),
  /** 0.25–0.30. */
  unset_github_token: flag,
});
export type SettingsUpdate = z.output<typeof SettingsUpdate>;

/** Shown for a key that is set. */
export const MASKED_KEY = '**********';

/** What a client sees of the settings: never a secret, only whether one is set. */
export const Settings = z.object({
  language: z.string().nullable(),
  agent: z.string().nullable(),
  max_iterations: z.number().int().nullable(),
  security_analyzer: z.string().nullable(),
  confirmation_mode: z.boolean().nullable(),
  confirmation_policy: ConfirmationMode.nullable(),
  confirmation_rules: ConfirmationRules,
  confirmation_timeout: z.number().int().nullable(),
  llm_model: z.string().nullable(),
  /** The stars of 0.25, which clears a key that it is not shown; never the key. */
  llm_api_key: z.literal(MASKED_KEY).nullable(),
  llm_base_url: z.string().nullable(),
  llm_effort: ModelEffort.nullable(),
  llm_fallback_model: z.string().nullable(),
  llm_fallback_base_url: z.string(),
  llm_fallback_api_key_set: z.boolean(),
  llm_small_model: z.string().nullable(),
  llm_small_base_url: z.string(),
  llm_small_api_key_set: z.boolean(),
  remote_runtime_resource_factor: z.number().nullable(),
  secrets_store: z.object({ provider_tokens: z.object({}) }),
  enable_default_condenser: z.boolean(),
  enable_sound_notifications: z.boolean(),
  enable_proactive_conversation_starters: z.boolean(),
  enable_solvability_analysis: z.boolean(),
  /** `null`: not asked yet, and the frontend asks. */
  user_consents_to_analytics: z.boolean().nullable(),
  sandbox_base_container_image: z.string().nullable(),
  sandbox_runtime_container_image: z.string().nullable(),
  mcp_config: McpConfig.nullable(),
  search_api_key: z.null(),
  sandbox_api_key: z.null(),
  max_budget_per_task: z.number().nullable(),
  condenser_max_size: z.number().int().nullable(),
  finish_checks: z.array(z.string()),
  connected_servers: z.array(z.string()),
  email: z.string().nullable(),
  email_verified: z.boolean().nullable(),
  git_user_name: z.string().nullable(),
  git_user_email: z.string().nullable(),
  sandbox_network: NetworkMode.nullable(),
  sandbox_network_allow: z.array(z.string()),
  /** provider → host, or `null` for its usual one. */
  provider_tokens_set: z.record(z.string(), z.string().nullable()),
  llm_api_key_set: z.boolean(),
  search_api_key_set: z.boolean(),
  /** 0.25–0.30 read this one instead of `provider_tokens_set`. */
  github_token_is_set: z.boolean().optional(),
});
export type Settings = z.output<typeof Settings>;

/** Whether the value is what an old frontend sends back for a key it was only shown masked. */
export function isMaskedKey(value: string): boolean {
  return value === 'SET' || /^\*+$/.test(value);
}
