import { Failure, LimitList, Limits, LimitScope, Revoked, ScopedLimits } from '@tendon/protocol';
import { z } from 'zod';
import type { Routes } from '../platform/http/app.ts';
import { fail } from '../platform/http/failure.ts';
import { partyOfCaller, scopesOf } from './party.ts';
import type { Quotas } from './quotas.ts';

/** The limits of each scope, with what is used of them. */
export const limitRoutes: Routes<{ readonly quotas: Quotas }> = (app, { quotas }) => {
  const info = async (scope: string): Promise<ScopedLimits> => ({ scope, limits: quotas.store.of(scope), used: await quotas.used(scope) });
  const params = z.object({ scope: LimitScope });

  app.get('/api/limits', { schema: { response: { 200: LimitList } } }, async () => ({
    limits: await Promise.all(quotas.store.scopes.map(info)),
  }));
  app.get('/api/limits/mine', { schema: { response: { 200: LimitList } } }, async ({ principal }) => ({
    limits: await Promise.all(scopesOf(partyOfCaller(principal)).map(info)),
  }));
  app.put(
    '/api/limits/:scope',
    { schema: { params, body: Limits, response: { 200: ScopedLimits } } },
    async ({ params: { scope }, body }) => {
      await quotas.store.set(scope, body);
      return info(scope);
    },
  );
  app.delete('/api/limits/:scope', { schema: { params, response: { 200: Revoked, 404: Failure } } }, async ({ params: { scope } }, reply) =>
    (await quotas.store.remove(scope)) ? { revoked: true as const } : fail(reply, 'NOT_FOUND'),
  );
};
