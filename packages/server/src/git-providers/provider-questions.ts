import { GitProvider } from '@tendon/protocol';
import { z } from 'zod';
import type { FastifyReply } from 'fastify';
import type { ProviderResult } from './apis/ask-providers.ts';
import type { GitAccounts, ProviderLogin } from './provider-tokens.ts';
import { sendFailure, sendJsonText } from '../platform/http/failure.ts';

const providerName = GitProvider.optional().catch(undefined);
const number = (usual: number, most: number) => z.coerce.number().int().min(1).max(most).catch(usual);
const text = (usual = '') => z.string().max(500).default(usual);

/** `owner/name`, or a path of any depth; nothing that leads to another path when it stands in an address. */
export const RepositoryName = z
  .string()
  .max(300)
  .regex(/^[\w.-]+(\/[\w.-]+)+$/, 'a repository is named owner/name')
  .refine((name) => !name.split('/').some((part) => part === '..' || part === '.'), 'a repository is named owner/name');

export const OfProvider = z.object({ provider: providerName, selected_provider: providerName });

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

/** Without `page` and `per_page`, as clients up to 0.50 ask, all are meant. */
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

export interface ProviderChoice {
  readonly provider?: GitProvider | undefined;
  readonly selected_provider?: GitProvider | undefined;
}

/**
 * What was asked of the providers that the request means, or why there is nothing. A missing or refused token is answered as 0.62 does,
 * with a JSON string.
 */
export async function answerAsked<T>(
  reply: FastifyReply,
  tokens: Pick<GitAccounts, 'logins'>,
  choice: ProviderChoice,
  ask: (logins: readonly ProviderLogin[]) => Promise<ProviderResult<T>>,
): Promise<T> {
  const provider = choice.selected_provider ?? choice.provider;
  const logins = tokens.logins.filter((login) => provider === undefined || login.provider === provider);
  if (logins.length === 0) {
    return sendJsonText(reply.code(401), JSON.stringify(`Git provider token required. (such as ${provider ?? 'GitHub'}).`)) as never;
  }
  const asked = await ask(logins);
  if (asked.ok) return asked.value;
  const { error, retryAfterSeconds } = asked;
  if (error.status === 401) return sendJsonText(reply.code(401), JSON.stringify(error.message)) as never;
  if (retryAfterSeconds !== undefined) void reply.header('retry-after', String(retryAfterSeconds));
  return sendFailure(reply, error) as never;
}
