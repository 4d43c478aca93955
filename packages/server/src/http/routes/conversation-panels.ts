import { ConversationConfig, Failure, VscodeUrl, WebHosts } from '@tendon/protocol';
import { z } from 'zod';
import type { Routes } from '../context.ts';
import { ById } from '../conversation-param.ts';
import { failureWith } from '../failure.ts';

/** What frontends ask beside a conversation's events, and this server has nothing, or little, to say to. */
export const conversationPanelRoutes: Routes = (app) => {
  app.get('/api/conversations/:id/config', { schema: { params: ById, response: { 200: ConversationConfig } } }, async ({ params }) => ({
    runtime_id: null,
    session_id: params.id,
  }));
  app.get('/api/conversations/:id/web-hosts', { schema: { params: ById, response: { 200: WebHosts } } }, async () => ({ hosts: {} }));
  app.get('/api/conversations/:id/vscode-url', { schema: { params: ById, response: { 200: VscodeUrl } } }, async () => ({
    vscode_url: null,
  }));
  // There are no experiments; clients want to hear that their choice was noted.
  app.post('/api/conversations/:id/exp-config', { schema: { params: ById, response: { 200: z.boolean() } } }, async () => true);
  const noAnalyzer = { schema: { params: ById.extend({ '*': z.string() }), response: { 404: Failure } } };
  app.all('/api/conversations/:id/security/*', noAnalyzer, async (_request, reply) =>
    reply.code(404).send(failureWith('Security analyzer not initialized')),
  );
};
