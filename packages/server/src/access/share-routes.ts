import { CreatedShare, CreateShare, Failure, Revoked, ShareList } from '@tendon/protocol';
import { z } from 'zod';
import type { Share, TokenStores } from '../platform/auth/token-stores.ts';
import type { IssuedToken } from '../platform/auth/token-store.ts';
import type { Routes } from '../platform/http/app.ts';
import { ById, optionalBody, originOf } from '../platform/http/request-parts.ts';
import { fail, failureWith } from '../platform/http/failure.ts';
import type { Conversations } from '../conversations/conversations.ts';

/** Links that show one conversation to everybody who has them, and let them do nothing. */
export const shareRoutes: Routes<{ readonly access: TokenStores; readonly conversations: Conversations }> = (
  app,
  { access, conversations },
) => {
  const listing = { params: ById, response: { 200: ShareList, 404: Failure } };
  app.get('/api/conversations/:id/shares', { schema: listing }, async ({ params: { id } }, reply) => {
    if (!(await conversations.get(id))) return fail(reply, 'CONVERSATION_NOT_FOUND', id);
    return { shares: access.shares.list.filter(({ value }) => value.conversation === id).map(shareInfo) };
  });

  const creating = { params: ById, body: optionalBody(CreateShare), response: { 201: CreatedShare, '4xx': Failure } };
  app.post('/api/conversations/:id/shares', { schema: creating }, async (request, reply) => {
    const { id } = request.params;
    if (!(await conversations.get(id))) return fail(reply, 'CONVERSATION_NOT_FOUND', id);
    const { key, userId: user, organisationId: organisation } = request.principal;
    const owner = user !== undefined && organisation !== undefined ? { owner: { user, organisation } } : {};
    const issued = await access.shares.issue({ conversation: id, ...(key && { key }), ...owner }, request.body.expires_in);
    if (!issued) return reply.code(409).send(failureWith('There are as many links as there may be. Revoke one first.'));
    const { token, held } = issued;
    // Behind `#` it is never sent in an address, so it ends in no log.
    const url = `${originOf(request)}/shared/${encodeURIComponent(id)}#${token}`;
    return reply
      .code(201)
      .header('cache-control', 'no-store')
      .send({ ...shareInfo(held), url, token });
  });

  const revoking = { params: ById.extend({ share: z.string() }), response: { 200: Revoked, 404: Failure } };
  app.delete('/api/conversations/:id/shares/:share', { schema: revoking }, async ({ params: { id, share } }, reply) => {
    if (access.shares.get(share)?.value.conversation !== id) return fail(reply, 'NOT_FOUND');
    await access.shares.revoke(share);
    return { revoked: true as const };
  });
};

function shareInfo({ id, created_at, expires_at, last_used_at }: IssuedToken<Share>): z.output<typeof ShareList>['shares'][number] {
  return { id, created_at, expires_at: expires_at!, last_used_at };
}
