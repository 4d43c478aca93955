import { Secret } from '@tendon/protocol/masking';
import type { OrganisationRole as Role } from '@tendon/protocol';
import { z } from 'zod';
import { isLoopbackName } from '../loopback.ts';
import { flag, list } from './environment-values.ts';

/** Who is in `group` at the identity provider has this role; `*`: everybody. */
export interface RoleRule {
  readonly group: string;
  readonly organisation: string;
  readonly role: Role;
}

/** Who may come in, and as what. */
export interface UserRules {
  /** Of e-mail addresses, lower case; empty: everybody whom the provider lets in. */
  readonly domains: readonly string[];
  /** Addresses of those who administer the server, lower case. */
  readonly admins: readonly string[];
  /** An address counts although the provider does not say that it has verified it. */
  readonly trustsEmail: boolean;
  readonly groupsClaim: string;
  /** Unset: everybody is a member of one organisation, and its admins give the roles. */
  readonly roles: readonly RoleRule[] | undefined;
}

/** The identity provider at which people sign in. */
export interface OidcConfig {
  readonly issuer: URL;
  readonly clientId: string;
  readonly clientSecret: Secret | undefined;
  readonly scopes: string;
  /** Unset: `/login/oidc/callback` of the address that the browser came to. */
  readonly redirectUrl: URL | undefined;
  readonly sessionSeconds: number;
  readonly rules: UserRules;
}

const lowerCase = list.transform((entries) => entries.map((entry) => entry.toLowerCase()));
const RULE = /^(.+)=([a-z0-9][a-z0-9-]{0,39}):(viewer|member|admin|owner)$/;
const RULES_EXPECTED =
  'group=organisation:role is expected, several separated by commas; an organisation is up to 40 small letters, digits and -, a role is viewer, member, admin or owner, and the group * is everybody';

const roles = list.transform((entries, { addIssue }) =>
  entries.flatMap((entry): readonly RoleRule[] => {
    const [, group, organisation, role] = RULE.exec(entry) ?? [];
    if (role) return [{ group: group!.trim(), organisation: organisation!, role: role as Role }];
    addIssue(RULES_EXPECTED);
    return [];
  }),
);

/** Over plain HTTP anybody on the way could sign in as anybody. */
function isSafe(text: string): boolean {
  const { protocol, hostname } = new URL(text);
  return protocol === 'https:' || isLoopbackName(hostname.replace(/^\[|\]$/g, ''));
}
const address = z
  .url({ protocol: /^https?$/, error: 'an https:// address is expected' })
  .refine((text) => !URL.canParse(text) || isSafe(text), 'an https:// address is expected; http:// only on this machine');

export const UsersEnvironment = z.object({
  OIDC_ISSUER: address.optional(),
  OIDC_CLIENT_ID: z.string().max(500, 'at most 500 characters').optional(),
  OIDC_CLIENT_SECRET: z
    .string()
    .min(8, 'at least 8 characters are needed, shorter ones cannot be hidden in logs')
    .transform((value) => new Secret(value))
    .optional(),
  OIDC_SCOPES: z
    .string()
    .refine((text) => text.split(/\s+/).includes('openid'), 'openid must be among them')
    .default('openid profile email'),
  OIDC_REDIRECT_URL: address.optional(),
  OIDC_SESSION_HOURS: z.coerce.number('hours are expected').min(0.01, 'at least 0.01').max(720, 'at most 720').default(12),
  OIDC_ALLOWED_DOMAINS: lowerCase.default([]),
  OIDC_ADMINS: lowerCase.default([]),
  OIDC_TRUST_EMAIL: flag.default(false),
  OIDC_GROUPS_CLAIM: z.string().default('groups'),
  OIDC_ROLES: roles.optional(),
});

/** Undefined: there are no users; a text: what is missing. */
export function usersConfig(values: z.output<typeof UsersEnvironment>): OidcConfig | string | undefined {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_REDIRECT_URL: redirect } = values;
  if (issuer === undefined) return undefined;
  if (clientId === undefined) return 'OIDC_CLIENT_ID: the id of this server at the identity provider is needed with OIDC_ISSUER';
  return {
    issuer: new URL(issuer),
    clientId,
    clientSecret: values.OIDC_CLIENT_SECRET,
    scopes: values.OIDC_SCOPES,
    redirectUrl: redirect === undefined ? undefined : new URL(redirect),
    sessionSeconds: Math.round(values.OIDC_SESSION_HOURS * 3600),
    rules: {
      domains: values.OIDC_ALLOWED_DOMAINS,
      admins: values.OIDC_ADMINS,
      trustsEmail: values.OIDC_TRUST_EMAIL,
      groupsClaim: values.OIDC_GROUPS_CLAIM,
      roles: values.OIDC_ROLES,
    },
  };
}
