import { Octokit } from '@octokit/rest';
import { z } from 'zod';
import { originOf } from '../check-token.ts';
import type { ProviderLogin } from '../provider-tokens.ts';
import type {
  Comments,
  ProviderApi,
  ProviderBranch,
  ProviderRepository,
  PullRequest,
  PullRequests,
  SuggestedTask,
} from './provider-api.ts';
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
    pullRequests: githubPulls(octokit),
    comments: githubComments(octokit),
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

const Pull = z.object({ number: z.number().int(), html_url: z.string() });

function githubPulls({ rest }: Octokit): PullRequests {
  return {
    async open({ repository, source, target, title, body, isDraft, labels }) {
      const at = named(repository);
      const { data } = await rest.pulls.create({ ...at, head: source, base: target, title, body, draft: isDraft });
      const opened = pullFrom(data);
      if (labels.length === 0) return opened;
      const labelled = await rest.issues.addLabels({ ...at, issue_number: opened.number, labels: [...labels] }).then(
        () => true,
        () => false,
      );
      return labelled ? opened : { ...opened, remark: 'It is open, but its labels could not be set.' };
    },
    async find({ repository, source, target }) {
      const at = named(repository);
      // A branch of a fork is named `owner:branch` as it is; without an owner the filter would not count.
      const head = source.includes(':') ? source : `${at.owner}:${source}`;
      const { data } = await rest.pulls.list({ ...at, head, base: target, state: 'open', per_page: 1 });
      const found = data.find(({ head: { ref } }) => head.endsWith(`:${ref}`));
      return found && pullFrom(found);
    },
  };
}

function pullFrom(given: unknown): PullRequest {
  const { number, html_url } = Pull.parse(given);
  return { number, url: html_url };
}

/** An issue with more comments since is not looked through. */
const MAX_COMMENT_PAGES = 10;

function githubComments({ rest }: Octokit): Comments {
  return {
    async post({ repository, number }, body) {
      const { data } = await rest.issues.createComment({ ...named(repository), issue_number: number, body });
      return data.html_url;
    },
    async find({ repository, number }, text, since) {
      for (let page = 1; page <= MAX_COMMENT_PAGES; page++) {
        const asked = { ...named(repository), issue_number: number, since, per_page: 100, page };
        const { data } = await rest.issues.listComments(asked);
        const found = data.find(({ body }) => body?.includes(text));
        if (found || data.length < 100) return found?.html_url;
      }
      return undefined;
    },
  };
}

const QUERY = `query {
  viewer {
    pullRequests(first: 50, states: [OPEN], orderBy: { field: UPDATED_AT, direction: DESC }) {
      nodes {
        number title repository { nameWithOwner } mergeable
        commits(last: 1) { nodes { commit { statusCheckRollup { state } } } }
        reviews(last: 50, states: [CHANGES_REQUESTED, COMMENTED]) { nodes { state } }
      }
    }
  }
  search(query: "is:open is:issue assignee:@me sort:updated-desc", type: ISSUE, first: 50) {
    nodes { ... on Issue { number title repository { nameWithOwner } } }
  }
}`;

const Named = z.object({ number: z.number(), title: z.string(), repository: z.object({ nameWithOwner: z.string() }) });
const PullRequest = Named.extend({
  mergeable: z.string().nullish(),
  commits: z.object({
    nodes: z.array(z.object({ commit: z.object({ statusCheckRollup: z.object({ state: z.string() }).nullish() }) })),
  }),
  reviews: z.object({ nodes: z.array(z.object({ state: z.string() })) }),
});
const Answer = z.object({
  viewer: z.object({ pullRequests: z.object({ nodes: z.array(PullRequest) }) }),
  search: z.object({ nodes: z.array(Named) }),
});

/** The user's open pull requests that something is wrong with, and the open issues assigned to the user. */
async function githubTasks(octokit: Octokit): Promise<readonly SuggestedTask[]> {
  const { viewer, search } = Answer.parse(await octokit.graphql(QUERY));
  const pulls = viewer.pullRequests.nodes.flatMap((pull) => {
    const type = typeOf(pull);
    return type ? [taskFrom(pull, type)] : [];
  });
  return [...pulls, ...search.nodes.map((issue) => taskFrom(issue, 'OPEN_ISSUE'))];
}

function typeOf({ mergeable, commits, reviews }: z.output<typeof PullRequest>): SuggestedTask['task_type'] | undefined {
  if (mergeable === 'CONFLICTING') return 'MERGE_CONFLICTS';
  const state = commits.nodes[0]?.commit.statusCheckRollup?.state;
  if (state === 'FAILURE' || state === 'ERROR') return 'FAILING_CHECKS';
  return reviews.nodes.length > 0 ? 'UNRESOLVED_COMMENTS' : undefined;
}

function taskFrom({ number, title, repository }: z.output<typeof Named>, task_type: SuggestedTask['task_type']): SuggestedTask {
  return { git_provider: 'github', task_type, repo: repository.nameWithOwner, issue_number: number, title };
}
