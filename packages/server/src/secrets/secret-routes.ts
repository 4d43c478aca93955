import { AddGitProviders, CreateSecret, Failure, SecretList, UpdateSecret } from '@tendon/protocol';
import { z } from 'zod';
import type { Routes } from '../platform/http/app.ts';
import { sendFailure } from '../platform/http/failure.ts';
import type { ProviderTokens } from '../git-providers/provider-tokens.ts';
import type { SecretStore } from './secret-store.ts';

const Done = z.object({ message: z.string() });
const ById = z.object({ id: z.string().max(200) });

/** What agents may use and nobody may read back: named secrets, and tokens of git providers. */
export const secretRoutes: Routes<{ readonly secretStore: SecretStore; readonly providerTokens: ProviderTokens }> = (
  app,
  { secretStore, providerTokens },
) => {
  const answers = { 200: Done, '4xx': Failure, 502: Failure };
  app.get('/api/secrets', { schema: { response: { 200: SecretList } } }, async () => secretStore.list);
  app.post('/api/secrets', { schema: { body: CreateSecret, response: { 201: Done, 400: Failure } } }, async ({ body }, reply) => {
    const error = await secretStore.create(body);
    return error ? sendFailure(reply, error) : reply.code(201).send({ message: 'Secret created successfully' });
  });
  app.put('/api/secrets/:id', { schema: { params: ById, body: UpdateSecret, response: answers } }, async ({ params, body }, reply) => {
    const error = await secretStore.update(params.id, body);
    return error ? sendFailure(reply, error) : { message: 'Secret updated successfully' };
  });
  app.delete('/api/secrets/:id', { schema: { params: ById, response: answers } }, async ({ params }, reply) => {
    const error = await secretStore.delete(params.id);
    return error ? sendFailure(reply, error) : { message: 'Secret deleted successfully' };
  });

  app.post('/api/add-git-providers', { schema: { body: AddGitProviders, response: answers } }, async ({ body }, reply) => {
    const error = await providerTokens.add(body.provider_tokens);
    return error ? sendFailure(reply, error) : { message: 'Git providers stored' };
  });
  app.post('/api/unset-provider-tokens', { schema: { response: { 200: Done } } }, async () => {
    await providerTokens.clear();
    return { message: 'Unset Git provider tokens' };
  });
};
