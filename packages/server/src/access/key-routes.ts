import { CreatedKey, CreateKey, Failure, KeyList, Revoked, type Scope } from '@tendon/protocol';
import { z } from 'zod';
import type { Principal } from '../platform/auth/identify.ts';
import type { IssuedToken } from '../platform/auth/token-store.ts';
import { revokeKey, type TokenStores, keyInfo, type ApiKey } from '../platform/auth/token-stores.ts';
import type { Routes } from '../platform/http/app.ts';
import { fail, failureWith } from '../platform/http/failure.ts';

const RANK = { read: 1, drive: 2, admin: 3 } as const satisfies Record<Scope, number>;

/** A user has the keys that they made; who administers the server has all. */
function isOf({ userId, scope, administersServer }: Principal, key: IssuedToken<ApiKey> | undefined): boolean {
  return userId === undefined || (administersServer === true && scope === 'admin') || key?.value.owner?.user === userId;
}

function ownerOf({ userId: user, organisationId: organisation }: Principal): Pick<ApiKey, 'owner'> {
  return user !== undefined && organisation !== undefined ? { owner: { user, organisation } } : {};
}

/** Keys for people and programs, each with a scope. */
export const keyRoutes: Routes<{ readonly access: TokenStores }> = (app, { access }) => {
  app.get('/api/keys', { schema: { response: { 200: KeyList } } }, async ({ principal }) => ({
    keys: access.keys.list.filter((one) => isOf(principal, one)).map((one) => keyInfo(one, access.users)),
  }));

  const creating = { body: CreateKey, response: { 201: CreatedKey, 403: Failure, 409: Failure } };
  app.post('/api/keys', { schema: creating }, async ({ principal, body: { name, scope, expires_in } }, reply) => {
    // No key of a user opens more than they may, now or later; one that seems to would mislead.
    if (principal.userId !== undefined && RANK[scope] > RANK[principal.scope!]) return fail(reply, 'SCOPE_TOO_NARROW', scope);
    const issued = await access.keys.issue({ name, scope, ...ownerOf(principal) }, expires_in ?? undefined);
    if (!issued) return reply.code(409).send(failureWith('There are as many keys as there may be. Revoke one first.'));
    return reply
      .code(201)
      .header('cache-control', 'no-store')
      .send({ ...keyInfo(issued.held, access.users), key: issued.token });
  });

  const revoking = { params: z.object({ id: z.string() }), response: { 200: Revoked, 404: Failure } };
  app.delete('/api/keys/:id', { schema: revoking }, async ({ principal, params: { id } }, reply) =>
    isOf(principal, access.keys.get(id)) && (await revokeKey(access, id)) ? { revoked: true as const } : fail(reply, 'NOT_FOUND'),
  );
};
