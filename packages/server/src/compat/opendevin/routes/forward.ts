import type { FastifyReply, FastifyRequest } from 'fastify';
import type { App } from '../../../platform/http/app.ts';
import type { Config } from '../../../platform/config/config.ts';

const KEPT_HEADERS = ['content-type', 'content-disposition'] as const;

export interface ForwardContext {
  readonly config: Config;
}

export interface Forwarded {
  readonly conversation: string;
  /** Behind `/api/conversations/<id>/`, with the query. */
  readonly path: string;
  /** Default: what the request brought. */
  readonly body?: object;
}

/**
 * Answers a route that names no conversation by the one of today that does. The request was let in already, so the inner one carries
 * our own name and key.
 */
export async function forward(app: App, { config }: ForwardContext, request: FastifyRequest, { conversation, path, body }: Forwarded) {
  const type = request.headers['content-type'];
  const isJson = type?.startsWith('application/json') ?? false;
  const key = config.sessionApiKey?.reveal();
  const payload = body ?? (isJson ? ((request.body ?? {}) as object) : type === undefined ? undefined : request.raw);
  return app.inject({
    method: request.method as 'GET' | 'POST',
    url: `/api/conversations/${encodeURIComponent(conversation)}/${path}`,
    headers: { host: 'localhost', ...(type && { 'content-type': type }), ...(key && { 'x-session-api-key': key }) },
    ...(payload && { payload }),
    payloadAsStream: true,
  });
}

export async function sendForwarded(reply: FastifyReply, answer: Awaited<ReturnType<typeof forward>>): Promise<FastifyReply> {
  for (const name of KEPT_HEADERS) {
    const value = answer.headers[name];
    if (value !== undefined) void reply.header(name, value);
  }
  return reply.code(answer.statusCode).send(answer.stream());
}
