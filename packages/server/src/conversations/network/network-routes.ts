import {
  AlwaysAllowed,
  catalogError,
  ConversationNetwork,
  Failure,
  NetworkAnswer,
  NetworkParams,
  type CatalogError,
} from '@tendon/protocol';
import type { StoredConversation } from '../conversation-records.ts';
import type { PersonsAnswer } from './network-questions.ts';
import type { Routes } from '../../platform/http/app.ts';
import { ById } from '../../platform/http/request-parts.ts';
import { fail, sendFailure } from '../../platform/http/failure.ts';
import type { Conversations } from '../conversations.ts';
import type { SandboxPool } from '@tendon/runtime';

/** Ours: where a conversation's sandbox may connect to, to see and to change while it runs. */
export const conversationNetworkRoutes: Routes<{ readonly conversations: Conversations; readonly runtimes: SandboxPool }> = (
  app,
  { conversations, runtimes },
) => {
  const schema = { params: ById, response: { 200: ConversationNetwork, '4xx': Failure } };
  const path = '/api/conversations/:id/network';
  async function shown(record: StoredConversation): Promise<ConversationNetwork> {
    const { mode, allow, allowPrivate } = await conversations.networkOf(record);
    const questions = [...(await conversations.questions.list(record.id))];
    const refused = [...(await runtimes.refusedHosts(record.id))];
    const reached = (await runtimes.reachedHosts(record.id)).map(({ host, port, count, times, bytesIn, bytesOut }) => {
      return { host, port, count, times: times.map((at) => new Date(at).toISOString()), bytes_in: bytesIn, bytes_out: bytesOut };
    });
    return { mode, allow: [...allow], allow_private: [...allowPrivate], refused, reached, questions };
  }

  async function notifySandboxes(id: string): Promise<void> {
    const shared = await conversations.questions.sharedBy(id);
    await Promise.all(shared.map((each) => runtimes.networkChanged(each)));
  }

  app.get(path, { schema }, async ({ params: { id } }, reply) => {
    const record = await conversations.get(id);
    return record ? shown(record) : fail(reply, 'CONVERSATION_NOT_FOUND', id);
  });
  app.put(path, { schema: { ...schema, body: NetworkParams } }, async ({ params: { id }, body }, reply) => {
    const changed = await conversations.setNetwork(id, body);
    if (changed === undefined) return fail(reply, 'CONVERSATION_NOT_FOUND', id);
    if (!changed.ok) return sendFailure(reply, changed.error);
    await notifySandboxes(id);
    return shown(changed.record);
  });

  async function answered(id: string, host: string, answer: PersonsAnswer): Promise<ConversationNetwork | CatalogError> {
    const error = await conversations.questions.answer(id, host, answer);
    if (error) return error;
    if (answer === 'always') await conversations.questions.policyChanged();
    await (answer === 'always' ? runtimes.networkChanged() : notifySandboxes(id));
    const record = await conversations.get(id);
    return record ? shown(record) : catalogError('CONVERSATION_NOT_FOUND', id);
  }
  app.post(`${path}/answer`, { schema: { ...schema, body: NetworkAnswer } }, async ({ params: { id }, body }, reply) => {
    const shownNow = await answered(id, body.host, body.answer);
    return 'code' in shownNow ? sendFailure(reply, shownNow) : shownNow;
  });
  // A path of its own: it opens the name to every conversation, which the table of access gives to fewer.
  app.post(`${path}/always`, { schema: { ...schema, body: AlwaysAllowed } }, async ({ params: { id }, body }, reply) => {
    const shownNow = await answered(id, body.host, 'always');
    return 'code' in shownNow ? sendFailure(reply, shownNow) : shownNow;
  });
};
