import { Failure, LimitList, Limits, LimitScope, OwnLimits, Revoked, ScopedLimits } from '@tendon/protocol';
import { z } from 'zod';
import type { Principal } from '../platform/auth/identify.ts';
import type { Routes } from '../platform/http/app.ts';
import { fail } from '../platform/http/failure.ts';
import { partyOfCaller, scopesOf } from './party.ts';
import type { Quotas } from './quotas.ts';

/** What all together use says something of other organisations: it is for those who may ask for `GET /api/limits`. */
function seesAll({ scope, userId, administersServer }: Principal): boolean {
  return scope === 'admin' && (userId === undefined || administersServer === true);
}

/** The limits of each scope, with what is used of them. */
export const limitRoutes: Routes<{ readonly quotas: Quotas }> = (app, { quotas }) => {
  const info = async (scope: string): Promise<ScopedLimits> => ({ scope, limits: quotas.store.of(scope), used: await quotas.used(scope) });
  const params = z.object({ scope: LimitScope });

  app.get('/api/limits', { schema: { response: { 200: LimitList } } }, async () => ({
    limits: await Promise.all(quotas.store.scopes.map(info)),
  }));
  app.get('/api/limits/mine', { schema: { response: { 200: OwnLimits } } }, async ({ principal }) => {
    const scopes = scopesOf(partyOfCaller(principal)).filter((scope) => scope !== 'server' || seesAll(principal));
    return { limits: await Promise.all(scopes.map(info)), server: await quotas.ofServer() };
  });
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
