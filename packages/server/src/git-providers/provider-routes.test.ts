import { expect, it } from 'vitest';
import { fakeGitHub, GITHUB_TOKEN } from './apis/fake-github.test-support.ts';
import { fakeGitLab, GITLAB_TOKEN } from './apis/fake-gitlab.test-support.ts';
import type { FakeProvider } from './apis/fake-provider.test-support.ts';
import { testServer, type TestServer } from '../server.test-support.ts';

interface Setup {
  readonly server: TestServer;
  readonly fake: FakeProvider;
  get(path: string): Promise<readonly [number, unknown]>;
}

async function connected(provider: 'github' | 'gitlab'): Promise<Setup> {
  const server = await testServer();
  const fake = await (provider === 'github' ? fakeGitHub() : fakeGitLab());
  const token = provider === 'github' ? GITHUB_TOKEN : GITLAB_TOKEN;
  const stored = await server.post('/api/add-git-providers', { provider_tokens: { [provider]: { token, host: fake.origin } } });
  expect(stored.status).toBe(200);
  const get = async (path: string) => {
    const response = await server.get(path);
    return [response.status, await response.json()] as const;
  };
  return { server, fake, get };
}

const ann = { id: '1', login: 'ann', avatar_url: 'http://a/x.png', company: null, name: 'Ann', email: null };

it('SV100: the user and the repositories of GitHub, in the shapes of 0.62 and at the paths of 0.16–0.30', async () => {
  const { get, server, fake } = await connected('github');
  for (const path of ['/api/user/info', '/api/github/user']) expect(await get(path)).toEqual([200, ann]);
  const repository = {
    id: '7',
    full_name: 'ann/tools',
    git_provider: 'github',
    is_public: false,
    stargazers_count: 3,
    link_header: '<https://api.github.com/user/repos?page=2>; rel="next"',
    pushed_at: '2025-01-02T03:04:05Z',
    owner_type: 'user',
    main_branch: 'main',
  };
  expect(await get('/api/user/repositories?sort=pushed&page=1&per_page=10&selected_provider=github')).toEqual([200, [repository]]);
  expect(fake.requests.at(-1)).toMatch(/per_page=10/);
  expect((await server.get('/api/github/repositories')).headers.get('link')).toContain('rel="next"');
  for (const prefix of ['/api/user', '/api/github']) {
    expect(await get(`${prefix}/installations?provider=github`)).toEqual([200, ['42']]);
    expect(await get(`${prefix}/repositories?installation_id=42`)).toMatchObject([200, [{ owner_type: 'organization' }]]);
    expect(await get(`${prefix}/search/repositories?query=ann/to&per_page=5&sort=stars&order=desc`)).toMatchObject([200, [{ id: '7' }]]);
    expect(decodeURIComponent(fake.requests.at(-1)!)).toMatch(/q=to[+ ]in:name[+ ]user:ann/);
  }
});

it('SV101: branches are one page when the client asks for a page, and all of them otherwise', async () => {
  const { get } = await connected('github');
  const main = { name: 'main', commit_sha: 'sha-main', protected: true, last_push_date: null };
  const old = { name: 'old', commit_sha: 'sha-old', protected: false, last_push_date: null };
  expect(await get('/api/user/repository/branches?repository=ann/tools&page=1&per_page=1')).toEqual([
    200,
    { branches: [main], has_next_page: true, current_page: 1, per_page: 1, total_count: null },
  ]);
  expect(await get('/api/user/repository/branches?repository=ann%2Ftools')).toEqual([200, [main, old]]);
  expect(await get('/api/user/search/branches?repository=ann/tools&query=ma')).toEqual([
    200,
    [{ name: 'main', commit_sha: 'abc', protected: true, last_push_date: '2025-01-02T00:00:00Z' }],
  ]);
  for (const name of ['tools', '../x', 'ann/..', 'a b/c']) {
    expect((await get(`/api/user/repository/branches?repository=${encodeURIComponent(name)}`))[0]).toBe(422);
  }
  expect(await get('/api/user/repository/branches?repository=ann/none')).toMatchObject([404, { detail: expect.any(String) as string }]);
});

it('SV102: microagents of a repository and what one says', async () => {
  const { get } = await connected('github');
  expect(await get('/api/user/repository/ann/tools/microagents')).toMatchObject([
    200,
    [{ name: '.cursorrules' }, { name: 'repo', path: '.openhands/microagents/repo.md', created_at: expect.any(String) as string }],
  ]);
  expect(await get('/api/user/repository/ann/tools/microagents/content?file_path=.openhands/microagents/repo.md')).toEqual([
    200,
    { content: 'No tabs.', path: '.openhands/microagents/repo.md', triggers: ['tabs'], git_provider: 'github' },
  ]);
  expect((await get('/api/user/repository/ann/none/microagents'))[0]).toBe(404);
  expect((await get('/api/user/repository/ann/tools/microagents/content'))[0]).toBe(400);
  expect((await get('/api/user/repository/ann/tools/microagents/content?file_path=../x'))[0]).toBe(422);
});

it('SV103: suggested tasks are pull requests that something is wrong with, and issues', async () => {
  const github = await connected('github');
  const [, tasks] = await github.get('/api/user/suggested-tasks');
  const types = (found: unknown) => (found as { task_type: string; issue_number: number }[]).map((t) => [t.task_type, t.issue_number]);
  expect(types(tasks)).toEqual([
    ['MERGE_CONFLICTS', 1],
    ['FAILING_CHECKS', 2],
    ['UNRESOLVED_COMMENTS', 3],
    ['OPEN_ISSUE', 9],
  ]);
  const gitlab = await connected('gitlab');
  const [, others] = await gitlab.get('/api/user/suggested-tasks');
  expect(types(others)).toEqual([
    ['MERGE_CONFLICTS', 1],
    ['FAILING_CHECKS', 2],
    ['UNRESOLVED_COMMENTS', 3],
    ['OPEN_ISSUE', 8],
  ]);
  expect(others).toMatchObject([{ git_provider: 'gitlab', repo: 'team/sub/app' }, {}, {}, {}]);
});

it('SV105: a GitLab of one’s own is asked', async () => {
  const { get, fake } = await connected('gitlab');
  expect(await get('/api/user/info')).toMatchObject([200, { id: '3', login: 'bob', company: 'Team' }]);
  expect(await get('/api/user/repositories?page=1&per_page=1')).toMatchObject([
    200,
    [
      {
        full_name: 'team/sub/app',
        link_header: expect.stringContaining('page=2') as string,
        owner_type: 'organization',
        main_branch: 'trunk',
      },
    ],
  ]);
  expect(await get('/api/user/search/repositories?query=app')).toMatchObject([200, [{ id: '5' }]]);
  expect(fake.requests.at(-1)).toContain('search=app');
  expect(await get('/api/user/repository/branches?repository=team/sub/app&page=1&per_page=1')).toMatchObject([
    200,
    { branches: [{ name: 'trunk', commit_sha: 'abc' }], has_next_page: true, total_count: 2 },
  ]);
  expect(await get('/api/user/search/branches?repository=team/sub/app&query=tr')).toMatchObject([200, [{ name: 'trunk' }]]);
  expect(await get('/api/user/repository/team/sub/app/microagents')).toMatchObject([200, [{ name: 'ci' }]]);
  const file = '/api/user/repository/team/sub/app/microagents/content?file_path=.openhands/microagents/ci.md';
  expect(await get(file)).toMatchObject([200, { content: 'Run it.', triggers: [] }]);
  expect(await get('/api/user/installations')).toEqual([200, []]);
});

it.each(['github', 'gitlab'] as const)('SV104: failures of %s are distinguished, in words, once asked', async (provider) => {
  const { get, server, fake } = await connected(provider);
  fake.failWith({ status: 401 });
  expect(await get('/api/user/info')).toEqual([401, expect.stringContaining('refused the stored token')]);
  fake.failWith({ status: 502 });
  const asked = fake.requests.length;
  expect(await get('/api/user/repositories')).toMatchObject([502, { detail: expect.stringContaining('it answered 502') as string }]);
  expect(fake.requests.length).toBe(asked + 1);
  fake.failWith({ status: 429, headers: { 'retry-after': '9' } });
  const limited = await server.get('/api/user/info');
  expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '9']);
  fake.failWith({ body: { unexpected: true } });
  expect((await get('/api/user/suggested-tasks'))[0]).toBe(502);
  expect(await get('/api/user/info?selected_provider=bitbucket')).toEqual([401, expect.any(String)]);
});
