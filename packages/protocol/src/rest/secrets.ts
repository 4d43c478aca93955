import { z } from 'zod';

export const SecretList = z.object({ custom_secrets: z.array(z.object({ name: z.string(), description: z.string().nullable() })) });
export type SecretList = z.output<typeof SecretList>;

/** Names become names of environment variables. */
const name = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/);

export const CreateSecret = z.object({ name, value: z.string(), description: z.string().nullish() });
export type CreateSecret = z.output<typeof CreateSecret>;

export const UpdateSecret = z.object({ name, description: z.string().nullish() });
export type UpdateSecret = z.output<typeof UpdateSecret>;

export const AddGitProviders = z.object({
  provider_tokens: z.record(z.string(), z.object({ token: z.string().nullish(), host: z.string().nullish() })),
});
export type AddGitProviders = z.output<typeof AddGitProviders>;
