import type { SubmitResult } from '@tendon/core';
import { catalogError, ConversationQuestion, Failure, QuestionAnswer, SendAnswer, type Action } from '@tendon/protocol';
import type { Conversations } from './conversations.ts';
import type { Caller } from '../platform/auth/caller.ts';
import type { Routes } from '../platform/http/app.ts';
import { fail, sendFailure } from '../platform/http/failure.ts';
import { ById } from '../platform/http/request-parts.ts';
import { answerTo, openQuestion, refused, shownQuestion, WAITS } from './open-question.ts';

const PATH = '/api/conversations/:id/question';

/** Ours: what a conversation waits for, to see and to answer without opening it. */
export const questionRoutes: Routes<{ readonly conversations: Conversations }> = (app, { conversations }) => {
  app.get(
    PATH,
    { schema: { params: ById, response: { 200: ConversationQuestion, '4xx': Failure } } },
    async ({ params: { id } }, reply) => {
      const record = await conversations.get(id);
      if (!record) return fail(reply, 'CONVERSATION_NOT_FOUND', id);
      const state = conversations.state(id)?.agentState ?? record.summary?.agent_state;
      const question = state === undefined || WAITS.has(state) ? await waiting(conversations, id) : undefined;
      return { question: question ? shownQuestion(question) : null };
    },
  );

  const answered = { params: ById, body: QuestionAnswer, response: { 200: SendAnswer, '4xx': Failure } };
  app.post(PATH, { schema: answered }, async ({ params: { id }, body, principal }, reply) => {
    const result = await answer(conversations, id, body, principal);
    return result.ok ? { success: true, event_id: result.event.id } : sendFailure(reply, result.error);
  });
};

async function waiting(conversations: Conversations, id: string): Promise<Action | undefined> {
  const held = await conversations.enter(id);
  try {
    return held && (await openQuestion(held.open.conversation, () => true));
  } finally {
    held?.release();
  }
}

async function answer(conversations: Conversations, id: string, given: QuestionAnswer, by: Caller): Promise<SubmitResult> {
  if (!(await conversations.get(id))) return refused(catalogError('CONVERSATION_NOT_FOUND', id));
  const action = answerTo(await waiting(conversations, id), given);
  return 'code' in action ? refused(action) : conversations.submit(id, action, { about: given.event_id, by });
}
