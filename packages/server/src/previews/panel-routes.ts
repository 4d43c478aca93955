import { ConversationConfig, Failure, VscodeUrl, WebHosts } from '@tendon/protocol';
import { z } from 'zod';
import { vscodeUrl, webHosts, type LinkContext } from './preview-links.ts';
import type { Routes } from '../platform/http/app.ts';
import { ById } from '../platform/http/conversation-param.ts';
import { fail, failureWith } from '../platform/http/failure.ts';
import type { Conversations } from '../conversations/conversations.ts';

/** What frontends ask beside a conversation's events: what is served, and what this server has little to say to. */
export const conversationPanelRoutes: Routes<LinkContext & { readonly conversations: Conversations }> = (app, context) => {
  const { conversations } = context;
  const answering = <T extends z.ZodType>(answer: T) => ({ params: ById, response: { 200: answer, '4xx': Failure } });
  const exists = async (id: string) => (await conversations.get(id)) !== undefined;

  app.get('/api/conversations/:id/config', { schema: answering(ConversationConfig) }, async ({ params: { id } }, reply) =>
    (await exists(id)) ? { runtime_id: null, session_id: id } : fail(reply, 'CONVERSATION_NOT_FOUND', id),
  );
  app.get('/api/conversations/:id/web-hosts', { schema: answering(WebHosts) }, async ({ params: { id }, headers }, reply) =>
    (await exists(id)) ? webHosts(context, id, headers.host ?? '') : fail(reply, 'CONVERSATION_NOT_FOUND', id),
  );
  app.get('/api/conversations/:id/vscode-url', { schema: answering(VscodeUrl) }, async ({ params: { id }, headers }, reply) =>
    (await exists(id)) ? vscodeUrl(context, id, headers.host ?? '') : fail(reply, 'CONVERSATION_NOT_FOUND', id),
  );
  // There are no experiments; clients want to hear that their choice was noted.
  app.post('/api/conversations/:id/exp-config', { schema: answering(z.boolean()) }, async ({ params: { id } }, reply) =>
    (await exists(id)) ? true : fail(reply, 'CONVERSATION_NOT_FOUND', id),
  );
  const noAnalyzer = { schema: { params: ById.extend({ '*': z.string() }), response: { 404: Failure } } };
  app.all('/api/conversations/:id/security/*', noAnalyzer, async (_request, reply) =>
    reply.code(404).send(failureWith('Security analyzer not initialized')),
  );
};
