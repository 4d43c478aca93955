import { z } from 'zod';
import { authorizationFor } from '../check-token.ts';
import type { ProviderLogin } from '../provider-tokens.ts';
import type { BranchPage, Comments, Page, ProviderApi, ProviderRepository, PullRequest, PullRequests } from './provider-api.ts';
import { ProviderFailure, providerFetch } from './provider-fetch.ts';

const CLOUD = 'https://api.bitbucket.org';

/** Bitbucket Cloud, as its REST API 2.0 is documented. `address`: where that API is. */
export function bitbucketApi({ host, token }: ProviderLogin, deadlineMs: number, address = CLOUD): ProviderApi {
  const fetch = providerFetch(deadlineMs);
  const headers = { authorization: authorizationFor('bitbucket', token), accept: 'application/json', 'user-agent': 'tendon' };
  const ask = async (path: string, query: Readonly<Record<string, string | number>> = {}, body?: object): Promise<Response> => {
    if (host !== null) throw new ProviderFailure('NOT_IMPLEMENTED', 'asking an installation other than bitbucket.org');
    const url = new URL(`${address}/2.0${path}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, String(value));
    const json = { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(body) };
    return fetch(url, body ? json : { headers });
  };
  const get = async <T>(schema: z.ZodType<T>, path: string, query?: Readonly<Record<string, string | number>>): Promise<T> =>
    schema.parse(await (await ask(path, query)).json());
  const workspaces = async () => (await get(Workspaces, '/workspaces', { pagelen: 100 })).values.map(({ slug }) => slug);
  const list = async (path: string, query: Readonly<Record<string, string | number>>) => {
    const { values, next } = await get(Repositories, path, query);
    return values.map((each) => repositoryFrom(each, next));
  };
  const branches = async (repository: string, { page, perPage }: Page, q?: string): Promise<BranchPage> => {
    const query = { page, pagelen: perPage, sort: '-target.date', ...(q && { q }) };
    return branchPage(await get(Branches, `/repositories/${quoted(repository)}/refs/branches`, query), { page, perPage });
  };
  return {
    user: async () => userFrom(await get(User, '/user')),
    installations: workspaces,
    repositories: ({ sort, page, perPage, installation }) =>
      installation === undefined
        ? list('/repositories', { role: 'member', page, pagelen: perPage, sort: SORT[sort] ?? '-updated_on' })
        : list(`/repositories/${quoted(installation)}`, { page, pagelen: perPage, sort: SORT[sort] ?? '-updated_on' }),
    searchRepositories({ query, perPage, sort }) {
      const name = query.replace(/^https?:\/\/[^/]+\//, '').replace(/\/$/, '');
      const [workspace, slug] = name.includes('/') ? name.split('/') : [undefined, name];
      const params = { q: `name ~ ${JSON.stringify(slug)}`, pagelen: perPage, sort: SORT[sort] ?? '-updated_on' };
      return list(workspace ? `/repositories/${quoted(workspace)}` : '/repositories', { ...params, ...(!workspace && { role: 'member' }) });
    },
    branches: (repository, page) => branches(repository, page),
    async searchBranches(repository, query, perPage) {
      return (await branches(repository, { page: 1, perPage }, `name ~ ${JSON.stringify(query)}`)).branches;
    },
    async files(repository, folder) {
      const { values } = await get(Files, `/repositories/${quoted(repository)}/src/HEAD/${quoted(folder)}${folder ? '/' : ''}`, {
        pagelen: 100,
      });
      return values.filter(({ type }) => type === 'commit_file').map(({ path }) => path);
    },
    file: async (repository, path) => (await ask(`/repositories/${quoted(repository)}/src/HEAD/${quoted(path)}`)).text(),
    suggestedTasks: async () => [],
    pullRequests: bitbucketPulls((repository, path, { query, body }) => ask(`/repositories/${quoted(repository)}/${path}`, query, body)),
    comments: NO_COMMENTS,
  };
}

const noComments = async (): Promise<never> => {
  throw new ProviderFailure('NOT_IMPLEMENTED', 'comments on Bitbucket');
};
const NO_COMMENTS: Comments = { post: noComments, find: noComments };

const SORT: Readonly<Record<string, string>> = { created: '-created_on', full_name: 'full_name' };

const page = <T extends z.ZodType>(value: T) =>
  z.object({ values: z.array(value), next: z.string().optional(), size: z.number().optional() });
const User = z.object({
  uuid: z.string().optional(),
  account_id: z.string().optional(),
  username: z.string().optional(),
  nickname: z.string().optional(),
  display_name: z.string().nullish().default(null),
  links: z.object({ avatar: z.object({ href: z.string() }).optional() }).optional(),
});
const Workspaces = page(z.object({ slug: z.string() }));
const Repository = z.object({
  uuid: z.string(),
  full_name: z.string(),
  is_private: z.boolean(),
  updated_on: z.string().nullish(),
  mainbranch: z.object({ name: z.string() }).nullish(),
  owner: z.object({ type: z.string() }).optional(),
});
const Repositories = page(Repository);
const Branches = page(z.object({ name: z.string(), target: z.object({ hash: z.string(), date: z.string().nullish() }) }));
const Files = page(z.object({ type: z.string(), path: z.string() }));

function userFrom({ uuid, account_id, username, nickname, display_name, links }: z.output<typeof User>) {
  const login = username ?? nickname ?? '';
  const id = account_id ?? uuid ?? login;
  return { id, login, avatar_url: links?.avatar?.href ?? '', company: null, name: display_name, email: null };
}

function branchPage({ values, next, size }: z.output<typeof Branches>, { page: current_page, perPage: per_page }: Page): BranchPage {
  const branches = values.map(({ name, target }) => ({
    name,
    commit_sha: target.hash,
    protected: false,
    last_push_date: target.date ?? null,
  }));
  return { branches, has_next_page: next !== undefined, current_page, per_page, total_count: size ?? null };
}

function repositoryFrom(given: z.output<typeof Repository>, next: string | undefined): ProviderRepository {
  return {
    id: given.uuid,
    full_name: given.full_name,
    git_provider: 'bitbucket',
    is_public: !given.is_private,
    stargazers_count: 0,
    link_header: next ? `<${next}>; rel="next"` : '',
    pushed_at: given.updated_on ?? null,
    owner_type: given.owner?.type === 'team' ? 'organization' : 'user',
    main_branch: given.mainbranch?.name ?? null,
  };
}

function quoted(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}

const Pull = z.object({ id: z.number(), links: z.object({ html: z.object({ href: z.string() }) }) });
const Pulls = z.object({ values: z.array(Pull) });

/** `ask`: a request below that repository; with a body it is a POST. */
function bitbucketPulls(
  ask: (
    repository: string,
    path: string,
    request: { readonly query?: Readonly<Record<string, string>>; readonly body?: object },
  ) => Promise<Response>,
): PullRequests {
  const branch = (name: string) => ({ branch: { name } });
  return {
    async open({ repository, source, target, title, body, isDraft }) {
      const params = { title, description: body, source: branch(source), destination: branch(target), draft: isDraft };
      return pullFrom(Pull.parse(await (await ask(repository, 'pullrequests', { body: params })).json()));
    },
    async find({ repository, source, target }) {
      const q = `state = "OPEN" AND source.branch.name = ${JSON.stringify(source)} AND destination.branch.name = ${JSON.stringify(target)}`;
      const { values } = Pulls.parse(await (await ask(repository, 'pullrequests', { query: { q, pagelen: '1' } })).json());
      return values[0] && pullFrom(values[0]);
    },
  };
}

function pullFrom({ id, links }: z.output<typeof Pull>): PullRequest {
  return { number: id, url: links.html.href };
}
