import { z } from 'zod';
import { createHmac } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { Secret } from '@tendon/protocol/masking';

/** Any id that is one path segment of plain characters; whether it exists is another question. */
export const ById = z.object({
  id: z
    .string()
    .max(100, 'Conversation ID is too long')
    .refine((id) => !/[\p{Cc}/\\]|\.\./u.test(id), 'Conversation ID contains characters that are not allowed'),
});

/** The header of a request that may be repeated because its answer was lost: with the same key it has its effect once. */
export const IdempotencyHeaders = z.looseObject({
  'idempotency-key': z.string().min(1).max(255).optional().describe('The caller’s own name for this request.'),
});

/**
 * The id of the request in this server, 32 hexadecimal digits; undefined when it has no key. The keys of two callers, and those of
 * two purposes, never collide, and an id reveals nothing about its key.
 */
export function requestId(
  { headers, principal }: FastifyRequest,
  purpose: string,
  { jwtSecret }: { readonly jwtSecret: Secret },
): string | undefined {
  const key = headers['idempotency-key'];
  if (typeof key !== 'string') return undefined;
  const named = JSON.stringify([purpose, principal.keyName, key]);
  return createHmac('sha256', jwtSecret.reveal()).update(named).digest('hex').slice(0, 32);
}

/** The schema of a body that may be left out (`curl -X POST` sends none): nothing counts as `{}`. */
export function optionalBody<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullish().transform((body) => (body ?? schema.parse({})) as z.output<Schema>);
}

/** As the client that asks sees this server. */
export function originOf({ headers }: FastifyRequest): string {
  const isSafe = headers.origin?.startsWith('https:') || headers['x-forwarded-proto'] === 'https';
  return `${isSafe ? 'https' : 'http'}://${headers.host}`;
}
