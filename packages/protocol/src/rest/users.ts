import { z } from 'zod';
import { Scope } from './access.ts';

/** What a person may do in an organisation: a viewer watches, a member drives agents, an admin and an owner also administer what is the organisation's. */
export const OrganisationRole = z.enum(['viewer', 'member', 'admin', 'owner']);
export type OrganisationRole = z.output<typeof OrganisationRole>;

export const OrganisationInfo = z.object({ id: z.string(), name: z.string(), role: OrganisationRole });
export type OrganisationInfo = z.output<typeof OrganisationInfo>;

export const UserInfo = z.object({
  id: z.string(),
  name: z.string(),
  email: z.string().nullable(),
  /** They cannot sign in, and what they came in by opens nothing. */
  disabled: z.boolean(),
  administers_server: z.boolean(),
  created_at: z.string(),
  last_login_at: z.string(),
  organisations: z.array(OrganisationInfo),
});
export type UserInfo = z.output<typeof UserInfo>;

/** Who the caller is. `user` is `null` for a key of no user, and where the server has no users. */
export const WhoAmI = z.object({
  has_users: z.boolean(),
  scope: Scope.nullable(),
  /** Whether the caller may change what every organisation shares. */
  administers_server: z.boolean(),
  user: z.object({ id: z.string(), name: z.string() }).nullable(),
  organisation: OrganisationInfo.nullable(),
  /** Those that the user can choose from. */
  organisations: z.array(OrganisationInfo),
});
export type WhoAmI = z.output<typeof WhoAmI>;

/** `conversations_left`: other servers have them, and remove them within a minute. */
export const ErasureInfo = z.object({ user_id: z.string(), is_done: z.boolean(), conversations_left: z.number().int() });
export type ErasureInfo = z.output<typeof ErasureInfo>;

export const ChooseOrganisation = z.object({ organisation_id: z.string().max(100) });

/** `roles_by_group`: groups of the identity provider give the roles, and `role` cannot be changed here. */
export const UserList = z.object({ users: z.array(UserInfo), roles_by_group: z.boolean() });
export type UserList = z.output<typeof UserList>;

export const UpdateUser = z
  .strictObject({
    /** In the caller's organisation, or the one that is named. */
    role: OrganisationRole.optional(),
    organisation_id: z.string().max(100).optional(),
    disabled: z.boolean().optional(),
  })
  .refine(({ role, disabled }) => role !== undefined || disabled !== undefined, {
    error: 'a role, or disabled, is expected',
    path: ['role'],
  });
export type UpdateUser = z.output<typeof UpdateUser>;
