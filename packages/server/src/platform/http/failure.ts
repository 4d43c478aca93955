import type { Readable } from 'node:stream';
import { catalogError, type CatalogError, type ErrorCode, type Failure } from '@tendon/protocol';
import type { FastifyReply } from 'fastify';

/** The text under every key that some client reads it from. */
export function failureBody(error: CatalogError): Failure {
  return { detail: error.message, error: error.message, message: error.message, msg_id: error.messageId };
}

/** Words of the route's own, under the same keys. */
export function failureWith(text: string): Failure {
  return { detail: text, error: text, message: text };
}

export function sendFailure(reply: FastifyReply, error: CatalogError): FastifyReply {
  if (error.retryAfter !== undefined) void reply.header('retry-after', String(error.retryAfter));
  return reply.code(error.status).send(failureBody(error));
}

export function fail(reply: FastifyReply, code: ErrorCode, detail = ''): FastifyReply {
  return sendFailure(reply, catalogError(code, detail));
}

/** A JSON text that comes from another place, whole or in pieces; fastify's types know only values of the schema. */
export function sendJsonText(reply: unknown, text: string | Readable): FastifyReply {
  return (reply as FastifyReply).type('application/json; charset=utf-8').send(text);
}
