import { z } from 'zod';

/** What a conversation waits for. */
export const OpenQuestion = z.object({
  /** `confirmation`: an action waits. `question`: a message of the agent does. */
  kind: z.enum(['confirmation', 'question']),
  /** Of the action or the message; the answer names it. */
  event_id: z.number().int(),
  asked_at: z.string(),
  /** As clients are sent it. */
  action: z.record(z.string(), z.unknown()),
});
export type OpenQuestion = z.output<typeof OpenQuestion>;

/** `null`: nothing waits for a person. */
export const ConversationQuestion = z.object({ question: OpenQuestion.nullable() });
export type ConversationQuestion = z.output<typeof ConversationQuestion>;

/** `approve` and `reject` are for a confirmation, `reply` is for a question. */
export const QuestionAnswer = z.object({
  event_id: z.number().int().nonnegative(),
  answer: z.enum(['approve', 'reject', 'reply']),
  /** The reason of a rejection, or the reply. */
  text: z.string().max(16_000).default(''),
  /** What runs in place of the command or cell that waits, with `approve`. */
  edited: z
    .string()
    .max(64 * 1024)
    .optional(),
});
export type QuestionAnswer = z.input<typeof QuestionAnswer>;
