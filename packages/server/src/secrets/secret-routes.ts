import {
  AddGitProviders,
  CreateSecret,
  Failure,
  OwnerQuery,
  SecretList,
  UpdateSecret,
  catalogError,
  type CatalogError,
} from '@tendon/protocol';
import { z } from 'zod';
import type { OwnedGitAccounts } from '../git-providers/owned-git-accounts.ts';
import type { ProviderTokens } from '../git-providers/provider-tokens.ts';
import type { Principal } from '../platform/auth/identify.ts';
import { organisationScope, userScope, type OwnScope } from '../platform/auth/own-scope.ts';
import type { Routes } from '../platform/http/app.ts';
import { sendFailure } from '../platform/http/failure.ts';
import type { OwnedSecrets } from './owned-secrets.ts';
import type { SecretStore } from './secret-store.ts';

const Done = z.object({ message: z.string() });
const ById = z.object({ id: z.string().max(200) });
const querystring = OwnerQuery;

interface SecretContext {
  readonly ownedSecrets: OwnedSecrets;
  readonly gitAccounts: OwnedGitAccounts;
}

/** Named secrets and tokens of git providers, of the server, an organisation or a user. Agents use them; nobody can read them back. */
export const secretRoutes: Routes<SecretContext> = (app, { ownedSecrets, gitAccounts }) => {
  const answers = { 200: Done, '4xx': Failure, 502: Failure };
  const secretsOf = (scope: OwnerScope): SecretStore => (scope === 'server' ? ownedSecrets.server : ownedSecrets.in(scope));
  const tokensOf = (scope: OwnerScope): ProviderTokens => (scope === 'server' ? gitAccounts.server : gitAccounts.in(scope));

  app.get(
    '/api/secrets',
    { schema: { querystring, response: { 200: SecretList, '4xx': Failure } } },
    async ({ principal, query }, reply) => {
      const scope = requestedScope(principal, query, { isChange: false });
      return typeof scope === 'object' ? sendFailure(reply, scope) : secretsOf(scope).list;
    },
  );
  const creating = { querystring, body: CreateSecret, response: { 201: Done, '4xx': Failure } };
  app.post('/api/secrets', { schema: creating }, async ({ principal, query, body }, reply) => {
    const scope = requestedScope(principal, query);
    const error = typeof scope === 'object' ? scope : await secretsOf(scope).create(body);
    return error ? sendFailure(reply, error) : reply.code(201).send({ message: 'Secret created successfully' });
  });
  const changing = { params: ById, querystring, body: UpdateSecret, response: answers };
  app.put('/api/secrets/:id', { schema: changing }, async ({ principal, query, params, body }, reply) => {
    const scope = requestedScope(principal, query);
    const error = typeof scope === 'object' ? scope : await secretsOf(scope).update(params.id, body);
    return error ? sendFailure(reply, error) : { message: 'Secret updated successfully' };
  });
  app.delete(
    '/api/secrets/:id',
    { schema: { params: ById, querystring, response: answers } },
    async ({ principal, query, params }, reply) => {
      const scope = requestedScope(principal, query);
      const error = typeof scope === 'object' ? scope : await secretsOf(scope).delete(params.id);
      return error ? sendFailure(reply, error) : { message: 'Secret deleted successfully' };
    },
  );

  const adding = { querystring, body: AddGitProviders, response: answers };
  app.post('/api/add-git-providers', { schema: adding }, async ({ principal, query, body }, reply) => {
    const scope = requestedScope(principal, query);
    const known = gitAccounts.of({ organisation_id: principal.organisationId }).set;
    const error =
      typeof scope === 'object' ? scope : (strangeHost(principal, body, known) ?? (await tokensOf(scope).add(body.provider_tokens)));
    return error ? sendFailure(reply, error) : { message: 'Git providers stored' };
  });
  app.post('/api/unset-provider-tokens', { schema: { querystring, response: answers } }, async ({ principal, query }, reply) => {
    const scope = requestedScope(principal, query);
    if (typeof scope === 'object') return sendFailure(reply, scope);
    await tokensOf(scope).clear();
    return { message: 'Unset Git provider tokens' };
  });
};

type OwnerScope = 'server' | OwnScope;

/** The owner whose secrets the caller asks for, or why the caller may not. Default: a user's own, the server's for any other key. */
function requestedScope(
  { userId, organisationId, scope, administersServer }: Principal,
  { owner }: OwnerQuery,
  { isChange = true } = {},
): OwnerScope | CatalogError {
  if (userId === undefined || organisationId === undefined)
    return owner === undefined || owner === 'server' ? 'server' : catalogError('INVALID_ARGUMENTS', 'owner: this key is of no user');
  if (owner === 'server') return administersServer && scope === 'admin' ? 'server' : catalogError('SERVER_ADMINS_ONLY');
  if (owner !== 'organisation') return userScope(organisationId, userId);
  return !isChange || scope === 'admin' ? organisationScope(organisationId) : catalogError('SCOPE_TOO_NARROW', 'admin');
}

/** The server sends the token to its host to check it, so only server admins may name a new host. */
function strangeHost(
  { userId, administersServer }: Principal,
  { provider_tokens: given }: AddGitProviders,
  known: Readonly<Record<string, string | null>>,
): CatalogError | undefined {
  if (userId === undefined || administersServer) return undefined;
  const named = Object.entries(given).find(([provider, { host }]) => host?.trim() && host.trim() !== known[provider]);
  return named && catalogError('SERVER_ADMINS_ONLY');
}
