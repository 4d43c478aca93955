import { GitProvider } from '@tendon/protocol';
import { z } from 'zod';
import { RepositoryName } from './repository-name.ts';

const provider = GitProvider.optional().catch(undefined);
const number = (usual: number, most: number) => z.coerce.number().int().min(1).max(most).catch(usual);
const text = (usual = '') => z.string().max(500).default(usual);

export const OfProvider = z.object({ provider, selected_provider: provider });

export const RepositoriesQuery = OfProvider.extend({
  sort: text('pushed'),
  page: number(1, 10_000),
  per_page: number(30, 100),
  installation_id: z
    .string()
    .max(100)
    .regex(/^[\w{}-]*$/)
    .optional(),
});

export const SearchQuery = OfProvider.extend({
  query: text(),
  per_page: number(5, 100),
  sort: text('stars'),
  order: z.enum(['asc', 'desc']).catch('desc'),
});

export const SearchBranchesQuery = OfProvider.extend({ repository: RepositoryName, query: text(), per_page: number(30, 100) });

/** Without `page` and `per_page`, as clients up to 0.50 ask, all are wished for. */
export const BranchesQuery = OfProvider.extend({
  repository: RepositoryName,
  page: number(1, 10_000).optional(),
  per_page: number(30, 100).optional(),
});

export const FileQuery = OfProvider.extend({
  file_path: z
    .string()
    .max(500)
    .refine((path) => !path.split('/').includes('..'), 'the path leads out of the repository')
    .optional(),
});
