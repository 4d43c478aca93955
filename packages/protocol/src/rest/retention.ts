import { z } from 'zod';

/** Why an old conversation stays. */
export const SparedReason = z.enum(['pinned', 'open', 'at work', 'waits for a decision', 'of another server']);
export type SparedReason = z.output<typeof SparedReason>;

export const OldConversation = z.object({
  conversation_id: z.string(),
  title: z.string(),
  created_at: z.string(),
  /** When something last happened in it, or in what it delegated. */
  last_event_at: z.string(),
  organisation_id: z.string().optional(),
  /** Why it stays; missing: it goes. */
  stays: SparedReason.optional(),
});
export type OldConversation = z.output<typeof OldConversation>;

/** Of so many days; without them those of the server. */
export const OldConversationsQuery = z.object({ days: z.coerce.number().int().min(1).max(100_000).optional() });
export type OldConversationsQuery = z.output<typeof OldConversationsQuery>;

/** Those that nothing happened in since `before`, newest first. */
export const OldConversations = z.object({
  days: z.number().int(),
  before: z.string(),
  conversations: z.array(OldConversation),
  /** There are more than are listed. */
  has_more: z.boolean(),
});
export type OldConversations = z.output<typeof OldConversations>;
