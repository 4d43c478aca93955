import { z } from 'zod';
import { allAnswers, firstAnswer } from './apis/ask-providers.ts';
import type { Routes } from '../platform/http/app.ts';
import { answerAsked, OfProvider, RepositoriesQuery, SearchQuery } from './provider-questions.ts';
import { RepositoryAnswer, TaskAnswer, UserAnswer } from './provider-answers.ts';
import { ownedByCaller } from '../platform/auth/own-scope.ts';
import type { Caller } from '../platform/auth/caller.ts';
import type { OwnedGitAccounts } from './owned-git-accounts.ts';
import type { GitAccounts } from './provider-tokens.ts';

/** What git providers know of the user. Clients of 0.16–0.30 ask under `/api/github`, and mean GitHub. */
export const gitProviderUserRoutes: Routes<{ readonly gitAccounts: Pick<OwnedGitAccounts, 'of'> }> = (app, { gitAccounts }) => {
  const accountsOf = (by: Caller): GitAccounts => gitAccounts.of(ownedByCaller(by));
  for (const [prefix, only] of [
    ['/api/user', undefined],
    ['/api/github', { selected_provider: 'github' as const }],
  ] as const) {
    const userPath = only ? `${prefix}/user` : `${prefix}/info`;
    app.get(userPath, { schema: { querystring: OfProvider, response: { 200: UserAnswer } } }, ({ query, principal }, reply) =>
      answerAsked(reply, accountsOf(principal), only ?? query, (logins) => firstAnswer(logins, (api) => api.user())),
    );

    app.get(
      `${prefix}/repositories`,
      { schema: { querystring: RepositoriesQuery, response: { 200: z.array(RepositoryAnswer) } } },
      async ({ query, principal }, reply) => {
        const params = { sort: query.sort, page: query.page, perPage: query.per_page, installation: query.installation_id || undefined };
        const found = await answerAsked(reply, accountsOf(principal), only ?? query, (logins) =>
          allAnswers(logins, (api) => api.repositories(params)),
        );
        // 0.16 reads its pages from the header itself.
        if (only && Array.isArray(found) && found[0]?.link_header) void reply.header('link', found[0].link_header);
        return found as z.output<typeof RepositoryAnswer>[];
      },
    );

    app.get(
      `${prefix}/installations`,
      { schema: { querystring: OfProvider, response: { 200: z.array(z.string()) } } },
      async ({ query, principal }, reply) =>
        (await answerAsked(reply, accountsOf(principal), only ?? query, (logins) =>
          allAnswers(logins, (api) => api.installations()),
        )) as string[],
    );

    app.get(
      `${prefix}/search/repositories`,
      { schema: { querystring: SearchQuery, response: { 200: z.array(RepositoryAnswer) } } },
      async ({ query, principal }, reply) => {
        const params = { query: query.query, perPage: query.per_page, sort: query.sort, order: query.order };
        const found = await answerAsked(reply, accountsOf(principal), only ?? query, (logins) =>
          allAnswers(logins, (api) => api.searchRepositories(params)),
        );
        return found as z.output<typeof RepositoryAnswer>[];
      },
    );

    app.get(
      `${prefix}/suggested-tasks`,
      { schema: { querystring: OfProvider, response: { 200: z.array(TaskAnswer) } } },
      async ({ query, principal }, reply) =>
        (await answerAsked(reply, accountsOf(principal), only ?? query, (logins) =>
          allAnswers(logins, (api) => api.suggestedTasks()),
        )) as z.output<typeof TaskAnswer>[],
    );
  }
};
