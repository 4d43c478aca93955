import { z } from 'zod';
import { OpenQuestion } from './question.ts';

/** What an agent waits for to which a part of the work was delegated: a person decides, in the conversation that delegated it. */
export const DelegatedQuestion = OpenQuestion.extend({
  /** The one that asks. */
  conversation_id: z.string(),
  /** From the conversation that was asked for down to the one that asks. */
  path: z.array(z.object({ conversation_id: z.string(), title: z.string(), agent: z.string() })),
});
export type DelegatedQuestion = z.output<typeof DelegatedQuestion>;

/** The conversations that a conversation's agent delegated to, the first delegated first. */
export const DelegatedConversations = z.object({
  delegated: z.array(z.object({ conversation_id: z.string(), action_id: z.number().int(), title: z.string(), agent: z.string() })),
});
export type DelegatedConversations = z.output<typeof DelegatedConversations>;

export const DelegatedQuestions = z.object({ questions: z.array(DelegatedQuestion) });
export type DelegatedQuestions = z.output<typeof DelegatedQuestions>;
