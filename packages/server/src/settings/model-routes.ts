import { catalogError, ConversationModels, Failure, ModelList, ModelProbeInfo, ProbeRequest } from '@tendon/protocol';
import type { StoredConversation } from '../conversations/conversation-records.ts';
import type { Routes } from '../platform/http/app.ts';
import { sendFailure } from '../platform/http/failure.ts';
import { ById } from '../platform/http/request-parts.ts';
import type { KnownModels } from './known-models.ts';

interface ModelContext {
  readonly knownModels: KnownModels;
  readonly conversations: { get(id: string): Promise<StoredConversation | undefined> };
  modelsOf(record: StoredConversation): ConversationModels;
}

/** Ours: what the models in use can do, the question to an endpoint, and what a conversation asks. */
export const modelRoutes: Routes<ModelContext> = (app, { knownModels, conversations, modelsOf }) => {
  app.get('/api/models', { schema: { response: { 200: ModelList } } }, async () => ({ models: [...(await knownModels.list())] }));
  app.post('/api/models/probe', { schema: { body: ProbeRequest, response: { 200: ModelProbeInfo } } }, ({ body }) =>
    knownModels.probe(body.model),
  );
  app.get(
    '/api/conversations/:id/models',
    { schema: { params: ById, response: { 200: ConversationModels, 404: Failure } } },
    async ({ params: { id } }, reply) => {
      const record = await conversations.get(id);
      return record ? modelsOf(record) : sendFailure(reply, catalogError('CONVERSATION_NOT_FOUND', id));
    },
  );
};
