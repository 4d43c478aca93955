import { Secret } from '@tendon/protocol/masking';
import type { GitProvider } from '@tendon/protocol';
import { expect, it } from 'vitest';
import { bitbucketApi } from '../../git-providers/apis/bitbucket-api.ts';
import { fakeGitHub, GITHUB_TOKEN } from '../../git-providers/apis/fake-github.test-support.ts';
import { fakeGitLab, GITLAB_TOKEN } from '../../git-providers/apis/fake-gitlab.test-support.ts';
import { fakeProvider, type FakeProvider } from '../../git-providers/apis/fake-provider.test-support.ts';
import { openPullRequest, type PullRequestAnswer } from './open-pull-request.ts';

interface Setup {
  readonly fake: FakeProvider;
  readonly noted: readonly number[];
  call(name: string, args: object): Promise<PullRequestAnswer>;
}

const CONVERSATION = 'c0ffee';

async function connected(provider: Extract<GitProvider, 'github' | 'gitlab'>): Promise<Setup> {
  const fake = await (provider === 'github' ? fakeGitHub() : fakeGitLab());
  const token = new Secret(provider === 'github' ? GITHUB_TOKEN : GITLAB_TOKEN);
  const noted: number[] = [];
  const parts = {
    providerTokens: { logins: [{ provider, token, host: fake.origin }] },
    conversations: {
      get: async (id: string) => (id === CONVERSATION ? ({ id } as never) : undefined),
      notePullRequest: async (_id: string, number: number) => void noted.push(number),
    },
  };
  const call: Setup['call'] = (name, args) => openPullRequest({ name, args: { ...args }, conversation: CONVERSATION }, parts);
  return { fake, noted, call };
}

const PULL = { repo_name: 'ann/tools', source_branch: 'fix', target_branch: 'main', title: 'Mend it', body: 'Why.' };
const MERGE = { id: 'team/sub/app', source_branch: 'fix', target_branch: 'trunk', title: 'Mend it', description: 'Why.' };
const FIRST = 'https://github.example/ann/tools/pull/11';

it('SV163: GitHub is asked once for a draft, unless it should be none, and then for the labels', async () => {
  const { fake, call, noted } = await connected('github');
  expect(await call('create_pr', { ...PULL, labels: ['bug'] })).toEqual({ ok: true, text: FIRST });
  expect(fake.requests).toEqual(['POST /api/v3/repos/ann/tools/pulls', 'POST /api/v3/repos/ann/tools/issues/11/labels']);
  expect(JSON.parse(fake.bodies[0]!)).toEqual({ title: 'Mend it', body: 'Why.', head: 'fix', base: 'main', draft: true });
  expect(await call('create_pr', { ...PULL, source_branch: 'other', draft: false, body: null })).toMatchObject({ ok: true });
  expect(JSON.parse(fake.bodies.at(-1)!)).toMatchObject({ head: 'other', body: '', draft: false });
  expect(noted).toEqual([11, 12]);
});

it('SV163: labels that cannot be set are reported, beside the address of what is open', async () => {
  const { call, noted } = await connected('github');
  expect(await call('create_pr', { ...PULL, labels: ['unknown'] })).toEqual({
    ok: true,
    text: expect.stringMatching(/^https:\S+\n.*labels/) as string,
  });
  expect(noted).toEqual([11]);
});

it('SV163: GitLab’s projects are named by path, by path as one segment, or by number', async () => {
  const { fake, call, noted } = await connected('gitlab');
  const answer = { ok: true, text: 'https://gitlab.example/team/sub/app/-/merge_requests/7' };
  expect(await call('create_mr', { ...MERGE, labels: ['a', 'b'] })).toEqual(answer);
  expect(JSON.parse(fake.bodies.at(-1)!)).toEqual({
    source_branch: 'fix',
    target_branch: 'trunk',
    title: 'Mend it',
    description: 'Why.',
    labels: 'a,b',
  });
  expect(await call('create_mr', { ...MERGE, id: 'team%2Fsub%2Fapp' })).toEqual(answer);
  await call('create_mr', { ...MERGE, id: 5 });
  expect(fake.requests).toContain('POST /api/v4/projects/5/merge_requests');
  expect(noted).toEqual([7, 7]);
});

it('SV163: Bitbucket Cloud is asked as its REST API is documented', async () => {
  const links = { html: { href: 'https://bitbucket.org/team/app/pull-requests/3' } };
  const fake = await fakeProvider('bb-0123456789', {
    'POST /2.0/repositories/team/app/pullrequests': () => ({ status: 201, body: { id: 3, links } }),
    'GET /2.0/repositories/team/app/pullrequests': () => ({ body: { values: [{ id: 3, links }] } }),
  });
  const { pullRequests } = bitbucketApi({ provider: 'bitbucket', host: null, token: new Secret('bb-0123456789') }, 10_000, fake.origin);
  const params = { repository: 'team/app', source: 'fix', target: 'main', title: 'Mend it', body: 'Why.', isDraft: false, labels: [] };
  expect(await pullRequests.open(params)).toEqual({ number: 3, url: links.html.href });
  expect(JSON.parse(fake.bodies[0]!)).toMatchObject({
    title: 'Mend it',
    source: { branch: { name: 'fix' } },
    destination: { branch: { name: 'main' } },
  });
  expect(await pullRequests.find(params)).toEqual({ number: 3, url: links.html.href });
});

it.each([
  ['create_pr', { ...PULL, title: null }, 'the required parameter "title" is missing'],
  ['create_pr', { ...PULL, repo_name: 'a/../b' }, '"repo_name"'],
  ['create_pr', { ...PULL, repo_name: 'a/b/c' }, 'owner/name'],
  ['create_pr', { ...PULL, source_branch: 'a b' }, '"source_branch"'],
  ['create_pr', { ...PULL, body: 'x'.repeat(70_000) }, '"body"'],
  ['create_pr', { ...PULL, labels: 'bug' }, '"labels"'],
  ['create_mr', MERGE, 'no token for GitLab'],
  ['create_issue', PULL, 'no tool'],
])('SV163: %s with what does not fit is refused in words, and nobody is asked (%#)', async (name, args, words) => {
  const { fake, call, noted } = await connected('github');
  expect(await call(name, args)).toEqual({ ok: false, problem: expect.stringContaining(words) as string });
  expect([fake.requests, noted]).toEqual([[], []]);
});

it('SV164: why a provider opened nothing is reported in its words', async () => {
  const { call, noted } = await connected('github');
  expect(await call('create_pr', { ...PULL, source_branch: 'unchanged' })).toEqual({
    ok: false,
    problem: 'GitHub did not open it: Validation Failed; No commits between main and unchanged',
  });
  expect(noted).toEqual([]);
});

it('SV164: what is open already is given again', async () => {
  const github = await connected('github');
  for (let time = 0; time < 2; time++) expect(await github.call('create_pr', PULL)).toEqual({ ok: true, text: FIRST });
  expect(github.noted).toEqual([11, 11]);
  const gitlab = await connected('gitlab');
  expect(await gitlab.call('create_mr', { ...MERGE, source_branch: 'taken' })).toMatchObject({
    ok: true,
    text: expect.stringMatching(/\/6$/) as string,
  });
});

it.each([
  [{ status: 401 }, 'refused the stored token'],
  [{ status: 404 }, 'Not found at github'],
  [{ status: 429 }, 'no more requests'],
  [{ status: 503 }, 'it answered 503'],
  [{ status: 422, body: 'no JSON' }, 'it answered 422'],
  [{ body: { unexpected: true } }, 'was not understood'],
])('SV164: a provider that answers %j is reported as that', async (answer, words) => {
  const { fake, call } = await connected('github');
  fake.failWith(answer);
  expect(await call('create_pr', PULL)).toEqual({ ok: false, problem: expect.stringContaining(words) as string });
});
