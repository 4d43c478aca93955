import { createHmac } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Secret } from '@tendon/core';

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
  const named = JSON.stringify([purpose, principal.name, key]);
  return createHmac('sha256', jwtSecret.reveal()).update(named).digest('hex').slice(0, 32);
}
