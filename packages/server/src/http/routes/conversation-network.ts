import { ConversationNetwork, Failure, NetworkWish } from '@tendon/protocol';
import type { StoredConversation } from '../../conversations/conversation-records.ts';
import type { Routes } from '../context.ts';
import { ById } from '../conversation-param.ts';
import { fail, sendFailure } from '../failure.ts';

/** Ours: where a conversation's sandbox may connect to, to see and to change while it runs. */
export const conversationNetworkRoutes: Routes = (app, { engine: { conversations, runtimes } }) => {
  const schema = { params: ById, response: { 200: ConversationNetwork, '4xx': Failure } };
  const path = '/api/conversations/:id/network';
  async function shown(record: StoredConversation): Promise<ConversationNetwork> {
    const { mode, allow, allowPrivate } = conversations.networkOf(record);
    return { mode, allow: [...allow], allow_private: [...allowPrivate], refused: [...(await runtimes.refusedHosts(record.id))] };
  }

  app.get(path, { schema }, async ({ params: { id } }, reply) => {
    const record = await conversations.get(id);
    return record ? shown(record) : fail(reply, 'CONVERSATION_NOT_FOUND', id);
  });
  app.put(path, { schema: { ...schema, body: NetworkWish } }, async ({ params: { id }, body }, reply) => {
    const changed = await conversations.setNetwork(id, body);
    if (changed === undefined) return fail(reply, 'CONVERSATION_NOT_FOUND', id);
    if (!changed.ok) return sendFailure(reply, changed.error);
    await runtimes.networkChanged(id);
    return shown(changed.record);
  });
};
