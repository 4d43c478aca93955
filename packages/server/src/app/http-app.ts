import { failureFor } from '@tendon/core';
import { catalogError, validationFailure } from '@tendon/protocol';
import { fastify, type FastifyError, type FastifyReply, type FastifyRequest } from 'fastify';
import { z } from 'zod';
import { guard } from '../platform/http/guard.ts';
import { MAX_BODY_BYTES, type App, type Routes, dropUnusedBodies, refuseEncodedBodies, zodCompilers } from '../platform/http/app.ts';
import type { ServerContext } from './context.ts';
import { fail, sendFailure } from '../platform/http/failure.ts';
import { limitRate } from '../platform/http/rate-limit.ts';

/** These resources over HTTP, not listening yet; it logs through its hooks. `extend` adds to it before the routes, e.g. to record them. */
export async function createApp(
  context: ServerContext,
  resources: readonly Routes<ServerContext>[],
  extend?: (app: App) => Promise<void>,
): Promise<App> {
  const { timeouts } = context;
  const app: App = fastify({
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: timeouts.requestMs,
    http: { headersTimeout: timeouts.headersMs, connectionsCheckingInterval: timeouts.checkMs },
    forceCloseConnections: true,
    schemaController: zodCompilers,
    routerOptions: { maxParamLength: 200, ignoreTrailingSlash: true },
    exposeHeadRoutes: true,
  });
  acceptEmptyJson(app);
  context.tracing?.requests(app);
  guard(app, context);
  refuseEncodedBodies(app);
  dropUnusedBodies(app);
  context.audit?.requests(app);
  limitRate(app, () => context.clock.now().getTime());
  app.setErrorHandler<FastifyError>((error, request, reply) => answerError(error, request, reply, context));
  app.setNotFoundHandler((_request, reply) => fail(reply, 'NOT_FOUND'));
  await extend?.(app);
  for (const routes of resources) routes(app, context);
  return app;
}

/** Old clients announce JSON and send nothing. */
function acceptEmptyJson(app: App): void {
  const parse = app.getDefaultJsonParser('remove', 'remove');
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body: string, done) => {
    if (body.trim() === '') done(null, {});
    else parse(request, body, done);
  });
}

/** Two old routes have words of their own for what does not fit. */
function answerMisfit(error: z.ZodError, context: string | undefined, reply: FastifyReply): FastifyReply {
  if (context === 'params') return fail(reply, 'CONVERSATION_ID_INVALID');
  if (context === 'querystring' && error.issues[0]?.path[0] === 'limit') return reply.code(400).send({ detail: 'Invalid limit' });
  return reply.code(422).send(validationFailure(error, context === 'querystring' ? 'query' : 'body'));
}

function answerError(error: FastifyError, request: FastifyRequest, reply: FastifyReply, { logger }: ServerContext): FastifyReply {
  if (error instanceof z.ZodError) return answerMisfit(error, error.validationContext, reply);
  if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE')
    return fail(reply, 'FRAME_TOO_LARGE', `${(request.routeOptions.bodyLimit ?? MAX_BODY_BYTES) / 1024 ** 2} MB`);
  if (error instanceof SyntaxError || error.code === 'FST_ERR_CTP_INVALID_JSON_BODY') return fail(reply, 'INVALID_JSON');
  if (error.statusCode !== undefined && error.statusCode < 500) {
    return sendFailure(reply, { ...catalogError('INVALID_ARGUMENTS', error.message), status: error.statusCode });
  }
  logger.error({ err: error, route: request.routeOptions.url }, 'a request failed');
  return sendFailure(reply, failureFor(error));
}
