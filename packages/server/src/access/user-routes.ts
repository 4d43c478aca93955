import type { Clock } from '@tendon/core';
import {
  catalogError,
  ChooseOrganisation,
  Failure,
  UpdateUser,
  UserInfo,
  UserList,
  WhoAmI,
  type CatalogError,
  type OrganisationRole,
} from '@tendon/protocol';
import { z } from 'zod';
import type { Principal } from '../platform/auth/identify.ts';
import { sessionCookie } from '../platform/auth/session-cookie.ts';
import { revokeAllOf, type TokenStores } from '../platform/auth/token-stores.ts';
import type { UserDirectory } from '../platform/auth/user-directory.ts';
import type { Config } from '../platform/config/config.ts';
import type { App, Routes } from '../platform/http/app.ts';
import { fail, sendFailure } from '../platform/http/failure.ts';

interface UserContext {
  readonly access: TokenStores;
  readonly config: Pick<Config, 'oidc'>;
  readonly clock: Clock;
}

/** Who the caller is, and who else there is. */
export const userRoutes: Routes<UserContext> = (app, context) => {
  whoAmI(app, context);
  members(app, context);
};

function whoAmI(app: App, { access, config, clock }: UserContext): void {
  app.get('/api/whoami', { schema: { response: { 200: WhoAmI } } }, async ({ principal }) => {
    const { userId, userName, organisationId, scope = null } = principal;
    const user = userId === undefined ? null : { id: userId, name: userName ?? userId };
    const organisations = userId === undefined ? [] : [...(access.users?.organisationsOf(userId) ?? [])];
    const organisation = organisations.find(({ id }) => id === organisationId) ?? null;
    return {
      has_users: config.oidc !== undefined,
      scope,
      administers_server: administersServer(principal),
      user,
      organisation,
      organisations,
    };
  });

  /** In another organisation the browser has another session. */
  const choosing = { body: ChooseOrganisation, response: { 200: z.object({ organisation_id: z.string() }), '4xx': Failure } };
  app.post('/api/whoami/organisation', { schema: choosing }, async ({ principal, headers, body: { organisation_id } }, reply) => {
    const { login, userId } = principal;
    if (!login || userId === undefined || !('user' in login.value.key))
      return fail(reply, 'INVALID_ARGUMENTS', 'an organisation is chosen by a person in a browser');
    if (!access.users?.member(userId, organisation_id)) return fail(reply, 'NOT_FOUND');
    const seconds = Math.max(1, Math.round((Date.parse(login.expires_at!) - clock.now().getTime()) / 1000));
    const issued = await access.logins.issue({ key: { user: userId, organisation: organisation_id } }, seconds);
    if (!issued) return fail(reply, 'TOO_MANY_REQUESTS');
    await access.logins.revoke(login.id);
    return reply.header('set-cookie', sessionCookie(issued.token, headers, seconds)).send({ organisation_id });
  });
}

function members(app: App, { access }: UserContext): void {
  app.get('/api/users', { schema: { response: { 200: UserList } } }, async ({ principal }) => {
    const { users } = access;
    const inOne = administersServer(principal) ? undefined : principal.organisationId;
    const found = users?.users(inOne) ?? [];
    return { users: found.map((user) => shownTo(principal, user)), roles_by_group: users?.givesRolesByGroup ?? false };
  });

  const changing = { params: z.object({ id: z.string().max(100) }), body: UpdateUser, response: { 200: UserInfo, '4xx': Failure } };
  app.patch('/api/users/:id', { schema: changing }, async ({ principal, params: { id }, body }, reply) => {
    const { users } = access;
    const found = users?.users().find((user) => user.id === id);
    if (!users || !found || !isAmong(principal, found)) return fail(reply, 'NOT_FOUND');
    const refusal = refusalOf(principal, found, body, users);
    if (refusal) return sendFailure(reply, refusal);
    const { role, disabled } = body;
    if (role !== undefined) await users.setRole(organisationOf(principal, found, body)!, id, role);
    if (disabled !== undefined) await users.setDisabled(id, disabled);
    if (disabled) await revokeAllOf(access, id);
    return shownTo(
      principal,
      users.users().find((user) => user.id === id)!,
    );
  });
}

/** Who is no user has come by the server's own key, or one of nobody's. */
function administersServer({ userId, scope, administersServer: isTheirs = false }: Principal): boolean {
  return userId === undefined ? scope === 'admin' : isTheirs && scope === 'admin';
}

function isAmong(principal: Principal, { organisations }: UserInfo): boolean {
  return administersServer(principal) || organisations.some(({ id }) => id === principal.organisationId);
}

/** An admin of one organisation is not shown in which others its members are. */
function shownTo(principal: Principal, user: UserInfo): UserInfo {
  if (administersServer(principal)) return user;
  return { ...user, organisations: user.organisations.filter(({ id }) => id === principal.organisationId) };
}

function organisationOf(principal: Principal, { organisations }: UserInfo, { organisation_id: named }: UpdateUser): string | undefined {
  const id = named ?? principal.organisationId ?? (organisations.length === 1 ? organisations[0]!.id : undefined);
  if (!administersServer(principal) && id !== principal.organisationId) return undefined;
  return organisations.some((one) => one.id === id) ? id : undefined;
}

function refusalOf(principal: Principal, user: UserInfo, body: UpdateUser, users: UserDirectory): CatalogError | undefined {
  if (body.role !== undefined) {
    if (users.givesRolesByGroup) return catalogError('ILLEGAL_STATE', 'groups of the identity provider give the roles (OIDC_ROLES)');
    const organisation = organisationOf(principal, user, body);
    if (organisation === undefined) return catalogError('INVALID_ARGUMENTS', 'organisation_id: one of the user’s is expected');
    const isOwners = [body.role, roleIn(user, organisation)].includes('owner');
    if (isOwners && !administersServer(principal) && users.member(principal.userId!, organisation)?.role !== 'owner')
      return catalogError('ILLEGAL_STATE', 'only an owner makes or unmakes one');
  }
  if (body.disabled === undefined) return undefined;
  if (user.id === principal.userId) return catalogError('ILLEGAL_STATE', 'nobody disables themselves');
  if (users.erasedName(user.id) !== undefined) return catalogError('ILLEGAL_STATE', 'this user was erased');
  // The account is every organisation's in which they are.
  const isOthersToo =
    user.administers_server || user.organisations.some(({ id, role }) => id !== principal.organisationId || role === 'owner');
  return isOthersToo && !administersServer(principal) ? catalogError('SERVER_ADMINS_ONLY') : undefined;
}

function roleIn({ organisations }: UserInfo, organisation: string): OrganisationRole | undefined {
  return organisations.find(({ id }) => id === organisation)?.role;
}
