import { CreatedKey, CreateKey, Failure, KeyList, Revoked } from '@tendon/protocol';
import { z } from 'zod';
import { revokeKey, type TokenStores, keyInfo } from '../platform/auth/token-stores.ts';
import type { Routes } from '../platform/http/app.ts';
import { fail, failureWith } from '../platform/http/failure.ts';

/** Keys for people and programs, each with a scope. */
export const keyRoutes: Routes<{ readonly access: TokenStores }> = (app, { access }) => {
  app.get('/api/keys', { schema: { response: { 200: KeyList } } }, async () => ({ keys: access.keys.list.map(keyInfo) }));

  const creating = { body: CreateKey, response: { 201: CreatedKey, 409: Failure } };
  app.post('/api/keys', { schema: creating }, async ({ body: { name, scope, expires_in } }, reply) => {
    const issued = await access.keys.issue({ name, scope }, expires_in ?? undefined);
    if (!issued) return reply.code(409).send(failureWith('There are as many keys as there may be. Revoke one first.'));
    return reply
      .code(201)
      .header('cache-control', 'no-store')
      .send({ ...keyInfo(issued.held), key: issued.token });
  });

  const revoking = { params: z.object({ id: z.string() }), response: { 200: Revoked, 404: Failure } };
  app.delete('/api/keys/:id', { schema: revoking }, async ({ params: { id } }, reply) =>
    (await revokeKey(access, id)) ? { revoked: true as const } : fail(reply, 'NOT_FOUND'),
  );
};
