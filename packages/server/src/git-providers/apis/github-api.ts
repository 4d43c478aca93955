import { Octokit } from '@octokit/rest';
import { z } from 'zod';
import { originOf } from '../check-token.ts';
import type { ProviderLogin } from '../provider-tokens.ts';
import { githubPulls } from './github-pulls.ts';
import { githubTasks } from './github-tasks.ts';
import type { ProviderApi, ProviderBranch, ProviderRepository } from './provider-api.ts';
import { providerFetch } from './provider-fetch.ts';

interface Repository {
  readonly id: number;
  readonly full_name: string;
  readonly private: boolean;
  readonly stargazers_count?: number;
  readonly pushed_at?: string | null;
  readonly default_branch?: string;
  readonly owner: { readonly type: string } | null;
}

/** GitHub, and GitHub Enterprise when the login names a host. */
export function githubApi({ host, token }: ProviderLogin, deadlineMs: number): ProviderApi {
  const octokit = new Octokit({
    auth: token.reveal(),
    userAgent: 'tendon',
    ...(host && { baseUrl: `${originOf(host)}/api/v3` }),
    request: { fetch: providerFetch(deadlineMs) },
    log: SILENT,
  });
  const { rest } = octokit;
  return {
    async user() {
      const { data } = await rest.users.getAuthenticated();
      const { id, login, avatar_url, company = null, name = null, email = null } = data;
      return { id: String(id), login, avatar_url, company, name, email };
    },
    async installations() {
      const { data } = await rest.apps.listInstallationsForAuthenticatedUser({ per_page: 100 });
      return data.installations.map(({ id }) => String(id));
    },
    async repositories({ sort, page, perPage, installation }) {
      const paging = { page, per_page: perPage };
      if (installation !== undefined) {
        const found = await rest.apps.listInstallationReposForAuthenticatedUser({ ...paging, installation_id: Number(installation) });
        return found.data.repositories.map((each) => repositoryFrom(each, found.headers.link));
      }
      const found = await rest.repos.listForAuthenticatedUser({ ...paging, sort: Sort.parse(sort) });
      return found.data.map((each) => repositoryFrom(each, found.headers.link));
    },
    async searchRepositories({ query, perPage, sort, order }) {
      const { data, headers } = await rest.search.repos({ q: searchText(query), per_page: perPage, sort: SearchSort.parse(sort), order });
      return data.items.map((each) => repositoryFrom(each, headers.link));
    },
    async branches(repository, { page, perPage }) {
      const { data, headers } = await rest.repos.listBranches({ ...named(repository), page, per_page: perPage });
      return {
        branches: data.map((each) => ({ name: each.name, commit_sha: each.commit.sha, protected: each.protected, last_push_date: null })),
        has_next_page: /rel="next"/.test(headers.link ?? ''),
        current_page: page,
        per_page: perPage,
        total_count: null,
      };
    },
    async searchBranches(repository, query, perPage) {
      const answer = await octokit.graphql(BRANCHES, { ...named(repository), words: query, first: perPage });
      return FoundBranches.parse(answer).repository?.refs.nodes.map(branchFrom) ?? [];
    },
    async files(repository, path) {
      const { data } = await rest.repos.getContent({ ...named(repository), path });
      return Array.isArray(data) ? data.filter(({ type }) => type === 'file').map((file) => file.path) : [];
    },
    async file(repository, path) {
      const { data } = await rest.repos.getContent({ ...named(repository), path, mediaType: { format: 'raw' } });
      return z.string().parse(data);
    },
    suggestedTasks: () => githubTasks(octokit),
    pullRequests: githubPulls(octokit, named),
  };
}

const nothing = () => undefined;
const SILENT = { debug: nothing, info: nothing, warn: nothing, error: nothing };

const Sort = z.enum(['pushed', 'updated', 'created', 'full_name']).catch('pushed');
const SearchSort = z.enum(['stars', 'forks', 'help-wanted-issues', 'updated']).catch('stars');

const BRANCHES = `query ($owner: String!, $repo: String!, $words: String!, $first: Int!) {
  repository(owner: $owner, name: $repo) {
    refs(refPrefix: "refs/heads/", query: $words, first: $first) {
      nodes { name target { ... on Commit { oid committedDate } } branchProtectionRule { id } }
    }
  }
}`;
const FoundBranch = z.object({
  name: z.string(),
  target: z.object({ oid: z.string().optional(), committedDate: z.string().optional() }),
  branchProtectionRule: z.unknown(),
});
const FoundBranches = z.object({ repository: z.object({ refs: z.object({ nodes: z.array(FoundBranch) }) }).nullable() });

function branchFrom({ name, target, branchProtectionRule }: z.output<typeof FoundBranch>): ProviderBranch {
  return { name, commit_sha: target.oid ?? '', protected: Boolean(branchProtectionRule), last_push_date: target.committedDate ?? null };
}

function repositoryFrom(given: Repository, link: string | undefined): ProviderRepository {
  return {
    id: String(given.id),
    full_name: given.full_name,
    git_provider: 'github',
    is_public: !given.private,
    stargazers_count: given.stargazers_count ?? 0,
    link_header: link ?? '',
    pushed_at: given.pushed_at ?? null,
    owner_type: given.owner?.type === 'Organization' ? 'organization' : 'user',
    main_branch: given.default_branch ?? null,
  };
}

/** `owner/name`, also as the end of an address, means that owner's. */
function searchText(query: string): string {
  const [, owner, name] = /^(?:https?:\/\/[^/]+\/)?([\w.-]+)\/([\w.-]*)\/?$/.exec(query.trim()) ?? [];
  return owner === undefined ? query : `${name} in:name user:${owner}`.trim();
}

function named(repository: string): { owner: string; repo: string } {
  const [owner = '', repo = ''] = repository.split('/');
  return { owner, repo };
}
