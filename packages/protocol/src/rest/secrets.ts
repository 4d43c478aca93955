import { z } from 'zod';

export const SecretList = z.object({
  custom_secrets: z.array(
    z.object({
      name: z.string(),
      description: z.string().nullable(),
      /** Missing for one that may go anywhere. */
      hosts: z.array(z.string()).optional(),
    }),
  ),
});
export type SecretList = z.output<typeof SecretList>;

/** Of a server with users: whose it is about. Default: the user’s own; of every other caller the server’s. */
export const OwnerQuery = z.object({ owner: z.enum(['own', 'organisation', 'server']).optional() });
export type OwnerQuery = z.output<typeof OwnerQuery>;

/** Names become names of environment variables. */
const name = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, 'a name has letters, digits and _, and does not begin with a digit');
const description = z.string().max(4096).nullish();
/** The hosts that it may go to, each with all names below it; none: any. */
const hosts = z
  .array(
    z
      .string()
      .trim()
      .toLowerCase()
      .max(253)
      .regex(
        /^(?:[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*$/,
        'the name of a host is expected, without a scheme and a port',
      ),
  )
  .max(20)
  .nullish();

export const CreateSecret = z.object({ name, value: z.string().max(65_536), description, hosts });
export type CreateSecret = z.output<typeof CreateSecret>;

export const UpdateSecret = z.object({ name, description, hosts });
export type UpdateSecret = z.output<typeof UpdateSecret>;

export const GitProvider = z.enum(['github', 'gitlab', 'bitbucket']);
export type GitProvider = z.output<typeof GitProvider>;

/** An absent or empty token with a host changes the host of a stored one. 0.30 sends the bare token. */
export const ProviderToken = z.union([
  z.string().transform((token) => ({ token, host: null })),
  z.object({ token: z.string().max(4096).nullish(), host: z.string().max(253).nullish() }),
]);
export type ProviderToken = z.output<typeof ProviderToken>;

/** Frontends after 0.62 name every provider they know, most of them empty: what is none of ours and has no token is left out. */
export const AddGitProviders = z.object({ provider_tokens: z.record(z.string(), ProviderToken).transform(ours) });
export type AddGitProviders = z.output<typeof AddGitProviders>;

function ours(given: Readonly<Record<string, ProviderToken>>, context: z.RefinementCtx): Partial<Record<GitProvider, ProviderToken>> {
  const tokens: Partial<Record<GitProvider, ProviderToken>> = {};
  for (const [key, token] of Object.entries(given)) {
    const provider = GitProvider.safeParse(key);
    if (provider.success) tokens[provider.data] = token;
    else if (token.token?.trim()) context.addIssue(`${key.slice(0, 40)} is no provider that this server knows`);
  }
  return tokens;
}
