import {
  Branches,
  IssueNotes,
  Issues,
  MergeRequestNotes,
  MergeRequests,
  Projects,
  Repositories,
  RepositoryFiles,
  Users,
} from '@gitbeaker/core';
import { createRequesterFn } from '@gitbeaker/requester-utils';
import { z } from 'zod';
import { originOf } from '../check-token.ts';
import type { ProviderLogin } from '../provider-tokens.ts';
import type {
  CommentPlace,
  Comments,
  ProviderApi,
  ProviderBranch,
  ProviderRepository,
  PullRequest,
  PullRequests,
  SuggestedTask,
} from './provider-api.ts';
import { providerFetch } from './provider-fetch.ts';

/** gitlab.com, or the installation that the login names. */
export function gitlabApi({ host, token }: ProviderLogin, deadlineMs: number): ProviderApi {
  const options = {
    host: originOf(host ?? 'gitlab.com'),
    oauthToken: token.reveal(),
    requesterFn: requester(deadlineMs),
    queryTimeout: null,
  };
  const [projects, branches, mergeRequests] = [new Projects(options), new Branches(options), new MergeRequests(options)];
  const list = async (params: Readonly<Record<string, unknown>>, page: number, perPage: number) => {
    const found = await projects.all({ membership: true, ...params, page, perPage, pagination: 'offset', maxPages: 1, showExpanded: true });
    const { next } = found.paginationInfo;
    const link = next ? `<${options.host}/api/v4/projects?page=${next}&per_page=${perPage}>; rel="next"` : '';
    return found.data.map((project) => repositoryFrom(project, link));
  };
  return {
    async user() {
      const { id, username, avatar_url, organization, name, email } = CurrentUser.parse(await new Users(options).showCurrentUser());
      return { id: String(id), login: username, avatar_url: avatar_url ?? '', company: organization, name, email };
    },
    installations: async () => [],
    repositories: ({ sort, page, perPage }) => list({ orderBy: ORDER[sort] ?? 'last_activity_at', sort: 'desc' }, page, perPage),
    searchRepositories: ({ query, perPage, sort, order }) =>
      list({ search: query, searchNamespaces: true, orderBy: ORDER[sort] ?? 'last_activity_at', sort: order }, 1, perPage),
    async branches(repository, { page, perPage }) {
      const found = await branches.all(repository, { page, perPage, pagination: 'offset', maxPages: 1, showExpanded: true });
      const { next, total } = found.paginationInfo;
      const total_count = Number.isFinite(total) ? total : null;
      return { branches: found.data.map(branchFrom), has_next_page: Boolean(next), current_page: page, per_page: perPage, total_count };
    },
    async searchBranches(repository, query, perPage) {
      return (await branches.all(repository, { search: query, perPage, page: 1, maxPages: 1 })).map(branchFrom);
    },
    async files(repository, path) {
      const tree = await new Repositories(options).allRepositoryTrees(repository, { path, perPage: 100, maxPages: 1 });
      return tree.filter(({ type }) => type === 'blob').map((file) => file.path);
    },
    async file(repository, path) {
      return z.string().parse(await new RepositoryFiles(options).showRaw(repository, path, 'HEAD'));
    },
    suggestedTasks: () => gitlabTasks(mergeRequests, new Issues(options)),
    pullRequests: gitlabMergeRequests(mergeRequests),
    comments: gitlabNotes(options.host, new IssueNotes(options), new MergeRequestNotes(options)),
  };
}

const ORDER: Readonly<Record<string, string>> = {
  pushed: 'last_activity_at',
  updated: 'updated_at',
  created: 'created_at',
  full_name: 'path',
  stars: 'star_count',
};

const CurrentUser = z.object({
  id: z.number(),
  username: z.string(),
  avatar_url: z.string().nullable(),
  organization: z.string().nullish().default(null),
  name: z.string().nullish().default(null),
  email: z.string().nullish().default(null),
});

const Project = z.object({
  id: z.number(),
  path_with_namespace: z.string(),
  visibility: z.string().optional(),
  star_count: z.number().default(0),
  last_activity_at: z.string().nullish(),
  default_branch: z.string().nullish(),
  namespace: z.object({ kind: z.string() }).optional(),
});

function repositoryFrom(given: unknown, link: string): ProviderRepository {
  const project = Project.parse(given);
  return {
    id: String(project.id),
    full_name: project.path_with_namespace,
    git_provider: 'gitlab',
    is_public: project.visibility === 'public',
    stargazers_count: project.star_count,
    link_header: link,
    pushed_at: project.last_activity_at ?? null,
    owner_type: project.namespace?.kind === 'group' ? 'organization' : 'user',
    main_branch: project.default_branch ?? null,
  };
}

const Branch = z.object({
  name: z.string(),
  protected: z.boolean().default(false),
  commit: z.object({ id: z.string(), committed_date: z.string().nullish() }),
});

function branchFrom(given: unknown): ProviderBranch {
  const { name, protected: isProtected, commit } = Branch.parse(given);
  return { name, commit_sha: commit.id, protected: isProtected, last_push_date: commit.committed_date ?? null };
}

const Request = z.object({
  prefixUrl: z.string(),
  searchParams: z.string().default(''),
  headers: z.record(z.string(), z.string()).default({}),
  method: z.string().default('GET'),
  body: z.string().optional(),
});

/** The client's own way to ask tries ten times where a limit is reached, and has no bound on answers. */
function requester(deadlineMs: number) {
  const ask = providerFetch(deadlineMs);
  return createRequesterFn(
    async (_, options) => options,
    async (endpoint, given) => {
      const { prefixUrl, searchParams, headers, method, body: sent } = Request.parse(given);
      const url = new URL(endpoint, prefixUrl.endsWith('/') ? prefixUrl : `${prefixUrl}/`);
      url.search = searchParams;
      const response = await ask(url, { method, headers, ...(sent !== undefined && { body: sent }) });
      const text = await response.text();
      const isJson = /^application\/json\b/.test(response.headers.get('content-type') ?? '') && !endpoint.endsWith('/raw');
      const body = (isJson ? JSON.parse(text) : text) as string | Record<string, unknown>;
      return { body, status: response.status, headers: Object.fromEntries(response.headers) };
    },
  );
}

const Opened = z.object({ iid: z.number(), web_url: z.string() });

/** GitLab calls them merge requests. A draft says so in its title. */
function gitlabMergeRequests(mergeRequests: MergeRequests): PullRequests {
  return {
    async open({ repository, source, target, title, body, isDraft, labels }) {
      const options = { description: body, ...(labels.length > 0 && { labels: labels.join(',') }) };
      return pullFrom(await mergeRequests.create(repository, source, target, isDraft ? `Draft: ${title}` : title, options));
    },
    async find({ repository, source, target }) {
      const params = { projectId: repository, state: 'opened', sourceBranch: source, targetBranch: target } as const;
      const [found] = await mergeRequests.all({ ...params, perPage: 1, maxPages: 1 });
      return found && pullFrom(found);
    },
  };
}

function pullFrom(given: unknown): PullRequest {
  const { iid, web_url } = Opened.parse(given);
  return { number: iid, url: web_url };
}

const Note = z.object({ id: z.number(), body: z.string() });

/** GitLab calls them notes, and gives no address with one. */
function gitlabNotes(host: string, ofIssues: IssueNotes, ofRequests: MergeRequestNotes): Comments {
  const newest = { sort: 'desc', orderBy: 'created_at', perPage: 100, maxPages: 3 } as const;
  const address = ({ repository, number, isPullRequest }: CommentPlace, note: unknown): string =>
    `${host}/${repository}/-/${isPullRequest ? 'merge_requests' : 'issues'}/${number}#note_${Note.parse(note).id}`;
  return {
    async post(place, body) {
      const { repository, number, isPullRequest } = place;
      const notes = isPullRequest ? ofRequests : ofIssues;
      return address(place, await notes.create(repository, number, body));
    },
    async find(place, text) {
      const { repository, number, isPullRequest } = place;
      const notes = await (isPullRequest ? ofRequests : ofIssues).all(repository, number, newest);
      const found = notes.find((note) => Note.parse(note).body.includes(text));
      return found && address(place, found);
    },
  };
}

/** Each is looked at by itself for its pipeline. */
const MAX_MERGE_REQUESTS = 20;

const Named = z.object({ iid: z.number(), title: z.string(), references: z.object({ full: z.string() }) });
const MergeRequest = Named.extend({
  project_id: z.number(),
  has_conflicts: z.boolean().nullish(),
  blocking_discussions_resolved: z.boolean().nullish(),
});
const Detail = z.object({ head_pipeline: z.object({ status: z.string() }).nullish() });

/** The user's open merge requests that something is wrong with, and the open issues assigned to the user. */
async function gitlabTasks(mergeRequests: MergeRequests, issues: Issues): Promise<readonly SuggestedTask[]> {
  const [requests, assigned] = await Promise.all([
    mergeRequests.all({ scope: 'created_by_me', state: 'opened', perPage: MAX_MERGE_REQUESTS, maxPages: 1 }),
    issues.all({ scope: 'assigned_to_me', state: 'opened', perPage: 50, maxPages: 1 }),
  ]);
  const checked = await Promise.all(
    z
      .array(MergeRequest)
      .parse(requests)
      .map(async (request) => ({ request, type: await typeOf(request, mergeRequests) })),
  );
  return [
    ...checked.flatMap(({ request, type }) => (type ? [taskFrom(request, type)] : [])),
    ...z
      .array(Named)
      .parse(assigned)
      .map((issue) => taskFrom(issue, 'OPEN_ISSUE')),
  ];
}

async function typeOf(
  { project_id, iid, has_conflicts, blocking_discussions_resolved }: z.output<typeof MergeRequest>,
  mergeRequests: MergeRequests,
): Promise<SuggestedTask['task_type'] | undefined> {
  if (has_conflicts) return 'MERGE_CONFLICTS';
  const { head_pipeline } = Detail.parse(await mergeRequests.show(project_id, iid));
  if (head_pipeline?.status === 'failed') return 'FAILING_CHECKS';
  return blocking_discussions_resolved === false ? 'UNRESOLVED_COMMENTS' : undefined;
}

/** `references.full` is `group/project!7` or `group/project#7`. */
function taskFrom({ iid, title, references }: z.output<typeof Named>, task_type: SuggestedTask['task_type']): SuggestedTask {
  return { git_provider: 'gitlab', task_type, repo: references.full.replace(/[!#]\d+$/, ''), issue_number: iid, title };
}
