import { randomUUID } from 'node:crypto';
import { Failure, FeedbackAnswer, isAction, Microagents, RememberPrompt, SubmitFeedback, type Event } from '@tendon/protocol';
import { z } from 'zod';
import type { Config } from '../platform/config/config.ts';
import type { App, Routes } from '../platform/http/app.ts';
import { ById } from '../platform/http/request-parts.ts';
import { fail, failureWith, sendFailure } from '../platform/http/failure.ts';
import { workspaceOf, type WorkspaceContext } from '../sandboxes/workspace-of.ts';
import type { Clock, Storage } from '@tendon/core';
import type { Conversations } from '../conversations/conversations.ts';

const EVENTS_READ = 500;
const MAX_PROMPT = 4_000;

interface KnowledgeContext extends WorkspaceContext {
  readonly conversations: Conversations;
  readonly storage: Storage;
  readonly clock: Clock;
  readonly config: Pick<Config, 'home'>;
}

/** What a repository has for agents, what is worth remembering of a conversation, and what its user thinks of it. */
export const conversationKnowledgeRoutes: Routes<KnowledgeContext> = (app, context) => {
  app.get(
    '/api/conversations/:id/microagents',
    { schema: { params: ById, response: { 200: Microagents, '4xx': Failure } } },
    async ({ params }, reply) => {
      const workspace = await workspaceOf(context, params.id);
      if (!('code' in workspace)) {
        const { workspaceMicroagents } = await import('./workspace-microagents.ts');
        return { microagents: await workspaceMicroagents(workspace, context.config.home) };
      }
      const error = 'Agent session not found for this conversation';
      return reply.code(404).send({ ...failureWith(error), message: workspace.message });
    },
  );
  rememberRoutes(app, context);
  app.post(
    '/api/conversations/:id/submit-feedback',
    { schema: { params: ById, body: SubmitFeedback, response: { 200: FeedbackAnswer, 404: Failure } } },
    async ({ params, body }, reply) => {
      if (!(await context.conversations.get(params.id))) return fail(reply, 'CONVERSATION_NOT_FOUND', params.id);
      const [id, at] = [randomUUID(), context.clock.now().toISOString()];
      await context.storage.records.put('feedback', { id, sort: at, value: { ...body, conversation_id: params.id, at } });
      const stored = { message: 'Your feedback is stored on this server and was sent to nobody.', feedback_id: id, password: '' };
      return { ...stored, statusCode: 200 as const, body: stored };
    },
  );
};

function rememberRoutes(app: App, { conversations }: KnowledgeContext): void {
  const querystring = z.object({ event_id: z.coerce.number().int().min(0) });
  const schema = { params: ById, querystring, response: { 200: RememberPrompt, '4xx': Failure } };
  for (const name of ['remember-prompt', 'remember_prompt'] as const) {
    app.get(`/api/conversations/:id/${name}`, { schema }, async ({ params, query }, reply) => {
      const log = await conversations.log(params.id);
      if (!log) return fail(reply, 'CONVERSATION_NOT_FOUND', params.id);
      const to = query.event_id + 1;
      if (to > log.nextId) return sendFailure(reply, { code: 'NOT_FOUND', status: 404, messageId: '', message: 'There is no such event' });
      const events = await log.read({ from: Math.max(0, to - EVENTS_READ), to });
      return { status: 'success' as const, prompt: promptFor(events) };
    });
  }
}

/** A task for an agent: write down what the user had to say, so that nobody has to say it again. Made without a model. */
function promptFor(events: readonly Event[]): string {
  const messages = events.flatMap((event) =>
    isAction(event) && event.action === 'message' && event.source === 'user' ? [event.args.content] : [],
  );
  const quoted = messages
    .slice(-5)
    .map(
      (text) =>
        `- ${text
          .trim()
          .slice(0, MAX_PROMPT / 5)
          .replaceAll('\n', '\n  ')}`,
    )
    .join('\n');
  return `Update .openhands/microagents/repo.md so that the next agent in this repository knows, without another reminder, what I wrote here:\n${quoted}\nKeep what is in the file, state each thing once and in general terms, and leave out what only mattered for this task.`;
}
