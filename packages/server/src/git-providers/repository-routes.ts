import { catalogError } from '@tendon/protocol';
import { z } from 'zod';
import { allBranches, firstAnswer } from './apis/ask-providers.ts';
import { repositoryMicroagents } from './apis/repository-microagents.ts';
import { RepositoryName, BranchesQuery, FileQuery, SearchBranchesQuery, answerAsked } from './provider-questions.ts';
import type { Routes } from '../platform/http/app.ts';
import { sendFailure } from '../platform/http/failure.ts';
import { BranchAnswer, BranchPageAnswer, MicroagentAnswer, MicroagentContentAnswer } from './provider-answers.ts';
import { ownedByCaller } from '../platform/auth/own-scope.ts';
import type { Caller } from '../platform/auth/caller.ts';
import type { OwnedGitAccounts } from './owned-git-accounts.ts';
import type { GitAccounts } from './provider-tokens.ts';
import type { Clock } from '@tendon/core';

type Branches = z.output<typeof BranchAnswer>[];

interface RepositoryContext {
  readonly gitAccounts: Pick<OwnedGitAccounts, 'of'>;
  readonly clock: Clock;
}

/** What git providers know of one repository. */
export const gitProviderRepositoryRoutes: Routes<RepositoryContext> = (app, { gitAccounts, clock }) => {
  const accountsOf = (by: Caller): GitAccounts => gitAccounts.of(ownedByCaller(by));

  app.get(
    '/api/user/search/branches',
    { schema: { querystring: SearchBranchesQuery, response: { 200: z.array(BranchAnswer) } } },
    async ({ query: { repository, query, per_page, ...choice }, principal }, reply) =>
      (await answerAsked(reply, accountsOf(principal), choice, (logins) =>
        firstAnswer(logins, (api) => api.searchBranches(repository, query, per_page)),
      )) as Branches,
  );

  app.get(
    '/api/user/repository/branches',
    { schema: { querystring: BranchesQuery, response: { 200: z.union([BranchPageAnswer, z.array(BranchAnswer)]) } } },
    async ({ query: { repository, page, per_page, ...choice }, principal }, reply) => {
      const isPaged = page !== undefined || per_page !== undefined;
      return (await answerAsked(reply, accountsOf(principal), choice, (logins) =>
        firstAnswer(logins, async (api) =>
          isPaged ? api.branches(repository, { page: page ?? 1, perPage: per_page ?? 30 }) : allBranches(api, repository),
        ),
      )) as z.output<typeof BranchPageAnswer> | Branches;
    },
  );

  // A repository's name has slashes of its own, so what is asked of it is read from the end.
  app.get(
    '/api/user/repository/*',
    {
      schema: {
        params: z.object({ '*': z.string() }),
        querystring: FileQuery,
        response: { 200: z.union([z.array(MicroagentAnswer), MicroagentContentAnswer]) },
      },
    },
    async ({ params, query: { file_path: path, ...choice }, principal }, reply) => {
      const [, name, content] = /^(.+?)\/microagents(\/content)?$/.exec(params['*']) ?? [];
      const repository = RepositoryName.safeParse(name);
      if (!repository.success) return sendFailure(reply, catalogError('NOT_FOUND')) as never;
      if (content === undefined) {
        const found = await answerAsked(reply, accountsOf(principal), choice, (logins) =>
          firstAnswer(logins, (api, provider) => repositoryMicroagents(api, provider, repository.data)),
        );
        if (!Array.isArray(found)) return found as never;
        const created_at = clock.now().toISOString();
        return (found as string[]).map((each) => ({ name: nameOf(each), path: each, created_at }));
      }
      if (!path) return sendFailure(reply, catalogError('INVALID_ARGUMENTS', 'file_path is missing')) as never;
      return answerAsked(reply, accountsOf(principal), choice, (logins) =>
        firstAnswer(logins, async (api, git_provider) => {
          // With it comes a parser of YAML, which the start of the server need not wait for.
          const { readMicroagent } = await import('./read-microagent.ts');
          const microagent = readMicroagent(nameOf(path), await api.file(repository.data, path));
          return { content: microagent.content, path, triggers: [...microagent.triggers], git_provider };
        }),
      );
    },
  );
};

function nameOf(path: string): string {
  return (path.split('/').at(-1) ?? path).replace(/\.md$/, '');
}
