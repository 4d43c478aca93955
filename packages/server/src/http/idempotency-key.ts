import { createHmac } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Engine } from '../engine.ts';

/** Of a request that may be sent again, because its answer was lost: with the same key it has the same effect, once. */
export const IdempotencyHeaders = z.looseObject({
  'idempotency-key': z.string().min(1).max(255).optional().describe('The caller’s own name for this request.'),
});

/**
 * What names the request to this server, 32 hexadecimal digits; undefined when it has no key. The keys of two callers, and those of
 * `purpose`s, have nothing to do with each other, and nobody can tell a key from what it became.
 */
export function requestId({ headers, principal }: FastifyRequest, purpose: string, { jwtSecret }: Engine): string | undefined {
  const key = headers['idempotency-key'];
  if (typeof key !== 'string') return undefined;
  const named = JSON.stringify([purpose, principal.name, key]);
  return createHmac('sha256', jwtSecret.reveal()).update(named).digest('hex').slice(0, 32);
}
