import { z } from 'zod';

/** What an agent waits for to which a part of the work was delegated: a person decides, in the conversation that delegated it. */
export const DelegatedQuestion = z.object({
  /** The one that asks. */
  conversation_id: z.string(),
  /** From the conversation that was asked for down to the one that asks. */
  path: z.array(z.object({ conversation_id: z.string(), title: z.string(), agent: z.string() })),
  /** `confirmation`: an action waits. `question`: a message with choices does. */
  kind: z.enum(['confirmation', 'question']),
  /** Of the action or the message; the answer names it. */
  event_id: z.number().int(),
  asked_at: z.string(),
  /** As clients are sent it. */
  action: z.record(z.string(), z.unknown()),
});
export type DelegatedQuestion = z.output<typeof DelegatedQuestion>;

export const DelegatedQuestions = z.object({ questions: z.array(DelegatedQuestion) });
export type DelegatedQuestions = z.output<typeof DelegatedQuestions>;

/** `approve` and `reject` are for a confirmation, `reply` is for a question. */
export const DelegatedAnswer = z.object({
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
export type DelegatedAnswer = z.input<typeof DelegatedAnswer>;
