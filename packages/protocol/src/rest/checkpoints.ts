import { z } from 'zod';
import { RESTORED, RestoredPaths } from '../events/checkpoint.ts';

/** A stored state of a conversation's workspace. */
export const CheckpointInfo = z.object({
  number: z.number().int(),
  made_at: z.string(),
  /** The action before which it was made; null where it holds what a restore replaced. */
  event_id: z.number().int().nullable(),
  /** The restore that replaced what it holds; null where it was made before a step. */
  restore_id: z.number().int().nullable(),
  files: z.number().int(),
});
export type CheckpointInfo = z.output<typeof CheckpointInfo>;

export const ConversationCheckpoints = z.object({
  /** Newest first. The state before an action is the newest one whose `event_id` is not greater. */
  checkpoints: z.array(CheckpointInfo),
  /** Some of the files whose content the newest one does not hold. */
  left_out: z.array(z.string()),
  /** Why no further ones are made; null where they are. */
  off: z.string().nullable(),
});
export type ConversationCheckpoints = z.output<typeof ConversationCheckpoints>;

export const CheckpointChanges = z.object({
  checkpoint: z.number().int(),
  /** Files and links that a restore would add, change or remove. */
  count: z.number().int(),
  /** Some of them, by their paths in the workspace. */
  changes: z.array(z.object({ path: z.string(), change: z.enum(['added', 'changed', 'removed']) })),
});
export type CheckpointChanges = z.output<typeof CheckpointChanges>;

export const ForkConversation = z.object({
  /** The last event that the new conversation has; default: the last one there is. */
  event: z.number().int().min(0).max(Number.MAX_SAFE_INTEGER).optional(),
});

export const ForkedConversation = z.object({
  conversation_id: z.string(),
  /** The last event that both have. */
  event_id: z.number().int(),
  /** The checkpoint that its files come from; null where they are those of now. */
  checkpoint: z.number().int().nullable(),
  /** Some of what is in that checkpoint, or in the history, and could not be copied. */
  left: z.array(z.string()),
});
export type ForkedConversation = z.output<typeof ForkedConversation>;

export const RestoreCheckpoint = z.object({
  what: z.enum(RESTORED).default('both'),
  paths: RestoredPaths.optional(),
  /** The message of the user, or the step of the agent, before which the conversation goes on. Default: the step of the checkpoint. */
  before: z.number().int().min(0).optional(),
});

export const RestoredCheckpoint = z.object({
  /** `pending`: it goes on, and its observation will be among the events. */
  status: z.enum(['restored', 'pending']),
  /** The action. */
  event_id: z.number().int(),
  /** Files that were written, replaced or removed. */
  changed: z.number().int(),
  /** Some that could not be put right. */
  left: z.array(z.string()),
});
