import { z } from 'zod';

/** `owner/name`, or a path of any depth; nothing that leads elsewhere when it stands in an address. */
export const RepositoryName = z
  .string()
  .max(300)
  .regex(/^[\w.-]+(\/[\w.-]+)+$/, 'a repository is named owner/name')
  .refine((name) => !name.split('/').some((part) => part === '..' || part === '.'), 'a repository is named owner/name');
