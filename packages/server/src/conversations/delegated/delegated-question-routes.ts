import { DelegatedConversations, DelegatedQuestions, Failure, QuestionAnswer } from '@tendon/protocol';
import { z } from 'zod';
import type { Conversations } from '../conversations.ts';
import type { Routes } from '../../platform/http/app.ts';
import { fail, sendFailure } from '../../platform/http/failure.ts';
import { ById } from '../../platform/http/request-parts.ts';

const ByChild = ById.extend({ child: z.string() });

/** Ours: what agents wait for to which this conversation's agent has delegated, to see and to answer; and where those agents work. */
export const delegatedQuestionRoutes: Routes<{ readonly conversations: Conversations }> = (app, { conversations }) => {
  const response = { 200: DelegatedQuestions, '4xx': Failure };
  const path = '/api/conversations/:id/delegated/questions';
  const shown = async (id: string): Promise<DelegatedQuestions> => ({ questions: [...(await conversations.delegated.list(id))] });

  app.get(path, { schema: { params: ById, response } }, async ({ params: { id } }, reply) =>
    (await conversations.get(id)) ? shown(id) : fail(reply, 'CONVERSATION_NOT_FOUND', id),
  );
  const children = { params: ById, response: { 200: DelegatedConversations, '4xx': Failure } };
  app.get('/api/conversations/:id/delegated', { schema: children }, async ({ params: { id } }, reply) =>
    (await conversations.get(id))
      ? { delegated: [...(await conversations.delegated.children(id))] }
      : fail(reply, 'CONVERSATION_NOT_FOUND', id),
  );
  app.post(
    `${path}/:child`,
    { schema: { params: ByChild, body: QuestionAnswer, response } },
    async ({ params: { id, child }, body, principal }, reply) => {
      const result = await conversations.delegated.answer(id, child, body, principal);
      return result.ok ? shown(id) : sendFailure(reply, result.error);
    },
  );
};
