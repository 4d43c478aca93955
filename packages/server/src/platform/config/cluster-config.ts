import { z } from 'zod';

/** How this server is one of several on a database. */
export interface ClusterConfig {
  /** Where the other servers reach it; without a slash at the end. */
  readonly url: string;
  /** False for a gateway, which only leads clients to the others. */
  readonly takesConversations: boolean;
}

const address = z.string().transform((text, { addIssue }) => {
  const url = URL.parse(text);
  if (url && /^https?:$/.test(url.protocol) && url.pathname === '/' && !url.search && !url.hash && !url.username) return url.origin;
  addIssue('an address like http://10.0.0.5:3000 is expected, without a path');
  return z.NEVER;
});

export const ClusterEnvironment = z.object({
  TENDON_ADVERTISE_URL: address.optional(),
  TENDON_ROLE: z.enum(['worker', 'gateway'], 'expected worker or gateway').optional(),
});

type Values = { readonly TENDON_DATABASE_URL?: unknown; readonly JWT_SECRET?: unknown } & z.output<typeof ClusterEnvironment>;

/** Undefined: this server has its storage alone; a text: what is missing. */
export function clusterConfig(values: Values): ClusterConfig | string | undefined {
  const { TENDON_ADVERTISE_URL: url, TENDON_ROLE: role } = values;
  if (url === undefined) return role === undefined ? undefined : 'TENDON_ROLE: TENDON_ADVERTISE_URL is needed with it';
  if (!values.TENDON_DATABASE_URL) return 'TENDON_ADVERTISE_URL: TENDON_DATABASE_URL is needed with it, the same on every server';
  if (!values.JWT_SECRET) return 'TENDON_ADVERTISE_URL: JWT_SECRET is needed with it, the same on every server';
  return { url, takesConversations: role !== 'gateway' };
}
