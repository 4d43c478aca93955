import type { FastifyReply, FastifyRequest } from 'fastify';
import type { App, Routes } from '../../../platform/http/app.ts';
import { fail, sendFailure } from '../../../platform/http/failure.ts';
import { conversationMeant, type BearerContext } from './bearer.ts';
import { forward, sendForwarded, type ForwardContext } from './forward.ts';

/** Method, name from 0.6 to 0.17, and the route of today under the conversation that has the same answer. */
const FORWARDED = [
  ['POST', 'submit-feedback', 'submit-feedback'],
  ['GET', 'zip-directory', 'zip-directory'],
  ['GET', 'vscode-url', 'vscode-url'],
  ['GET', 'conversation', 'config'],
  ['GET', 'events/search', 'events'],
] as const;

export const forwardedRoutes: Routes<BearerContext & ForwardContext> = (app, context) => {
  const schema = { hide: true };
  for (const [method, name, path] of FORWARDED) {
    app.route({ method, url: `/api/${name}`, schema, handler: (request, reply) => pass(app, context, request, reply, path) });
  }
  app.route({
    method: ['GET', 'POST', 'PUT', 'DELETE'],
    url: '/api/security/*',
    schema,
    handler: (request, reply) => {
      const { '*': rest } = request.params as { '*': string };
      // The inner request is ours: what leads out of its folder would be asked with our own rights.
      if (/(?:^|[/\\])\.{1,2}(?:[/\\]|$)/.test(rest)) return fail(reply, 'NOT_FOUND');
      return pass(app, context, request, reply, `security/${rest.split('/').map(encodeURIComponent).join('/')}`);
    },
  });
};

async function pass(
  app: App,
  context: BearerContext & ForwardContext,
  request: FastifyRequest,
  reply: FastifyReply,
  path: string,
): Promise<FastifyReply> {
  const conversation = await conversationMeant(request, context);
  if (typeof conversation !== 'string') return sendFailure(reply, conversation);
  const query = request.url.split('?').slice(1).join('?');
  return sendForwarded(reply, await forward(app, context, request, { conversation, path: query === '' ? path : `${path}?${query}` }));
}
