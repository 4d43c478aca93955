import { z } from 'zod';
import { GitProvider } from './secrets.ts';

/** What makes a trigger fire; `github` and `gitlab` are mentions there. */
export const TriggerKind = z.enum(['webhook', 'schedule', 'github', 'gitlab']);
export type TriggerKind = z.output<typeof TriggerKind>;

const repository = z.string().trim().min(1).max(500);

export const TriggerSchedule = z.object({
  /** Minute, hour, day of the month, month, day of the week. */
  cron: z.string().trim().min(1).max(200),
  /** An IANA name. */
  time_zone: z.string().trim().min(1).max(100).default('UTC'),
});
export type TriggerSchedule = z.output<typeof TriggerSchedule>;

export const TriggerMention = z.object({
  /** The word in a comment; null: comments do not fire it. */
  phrase: z
    .string()
    .regex(/^@?[\w-]{2,100}$/, 'one word is expected, such as @tendon')
    .nullable()
    .default('@tendon'),
  /** Of GitHub: an issue that gets this label fires it. */
  label: z.string().trim().min(1).max(100).nullable().default(null),
  /** Login names. Empty: of GitHub the owner, members and collaborators of the repository. */
  allowed_users: z.array(z.string().trim().min(1).max(100)).max(200).default([]),
});
export type TriggerMention = z.output<typeof TriggerMention>;

/** The issue or pull request that a result is posted to. */
export const CommentTarget = z.object({
  git_provider: GitProvider,
  repository: z
    .string()
    .regex(/^[\w.-]+(\/[\w.-]+)+$/, 'a repository is named owner/name')
    .max(300),
  number: z.number().int().positive(),
  is_pull_request: z.boolean().default(false),
});
export type CommentTarget = z.output<typeof CommentTarget>;

const prompt = z.string().trim().min(1).max(20_000);
const name = z.string().trim().min(1).max(100);
const max_per_hour = z.number().int().min(1).max(1_000);

export const CreateTrigger = z.object({
  name,
  kind: TriggerKind,
  /** What the agent is asked; mentions have one of their own. */
  prompt: prompt.optional(),
  schedule: TriggerSchedule.optional(),
  mention: TriggerMention.optional(),
  /** Of the conversations; of a mention the only one that fires it. */
  repository: repository.nullish(),
  branch: z.string().trim().min(1).max(250).nullish(),
  git_provider: GitProvider.nullish(),
  agent: z.string().trim().min(1).max(200).nullish(),
  /** Default: one is made. */
  secret: z.string().min(16, 'a secret has at least 16 characters').max(200).optional(),
  max_per_hour: max_per_hour.default(30),
  /** Of a mention: whether the result is posted where it was mentioned. */
  posts_result: z.boolean().default(true),
  /** Where the result is posted when nothing was mentioned. */
  post_to: CommentTarget.nullish(),
});
export type CreateTrigger = z.output<typeof CreateTrigger>;

export const UpdateTrigger = z.object({
  name: name.optional(),
  enabled: z.boolean().optional(),
  prompt: prompt.optional(),
  schedule: TriggerSchedule.optional(),
  mention: TriggerMention.optional(),
  max_per_hour: max_per_hour.optional(),
  posts_result: z.boolean().optional(),
});
export type UpdateTrigger = z.output<typeof UpdateTrigger>;

export const TriggerInfo = z.object({
  id: z.string(),
  name: z.string(),
  kind: TriggerKind,
  enabled: z.boolean(),
  prompt: z.string(),
  schedule: TriggerSchedule.nullable(),
  /** Of a schedule that is not paused. */
  next_at: z.string().nullable(),
  mention: TriggerMention.nullable(),
  repository: z.string().nullable(),
  branch: z.string().nullable(),
  git_provider: z.string().nullable(),
  agent: z.string().nullable(),
  max_per_hour: z.number(),
  posts_result: z.boolean(),
  post_to: CommentTarget.nullable(),
  /** Where its deliveries are sent; null of a schedule. */
  path: z.string().nullable(),
  created_at: z.string(),
});
export type TriggerInfo = z.output<typeof TriggerInfo>;
export const TriggerList = z.object({ triggers: z.array(TriggerInfo) });
/** The only time that the secret is shown; null of a schedule. */
export const CreatedTrigger = TriggerInfo.extend({ secret: z.string().nullable() });
export type CreatedTrigger = z.output<typeof CreatedTrigger>;

/** `accepted` waits for its conversation, `working` for its end, `posting` for its comment; the others are the end. */
export const DeliveryState = z.enum(['accepted', 'working', 'posting', 'done', 'ignored', 'failed']);
export type DeliveryState = z.output<typeof DeliveryState>;

export const DeliveryInfo = z.object({
  id: z.string(),
  /** The sender's name for it, the time of a schedule, or `fired by hand`. */
  name: z.string(),
  received_at: z.string(),
  state: DeliveryState,
  /** Why it is where it is, when there is something to add. */
  detail: z.string().nullable(),
  conversation_id: z.string().nullable(),
  /** In which the conversation ended. */
  agent_state: z.string().nullable(),
  comment_url: z.string().nullable(),
});
export type DeliveryInfo = z.output<typeof DeliveryInfo>;
export const DeliveryList = z.object({ deliveries: z.array(DeliveryInfo) });
export const DeliveryQuery = z.object({ limit: z.coerce.number().int().min(1).max(200).default(50) });

/** `text` stands where a payload or a comment would. */
export const FireTrigger = z.object({ text: z.string().max(20_000).default('') });
export const Delivered = DeliveryInfo.extend({ repeated: z.boolean() });
export type Delivered = z.output<typeof Delivered>;
