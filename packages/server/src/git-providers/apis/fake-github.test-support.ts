import { fakeProvider, type FakeProvider } from './fake-provider.test-support.ts';

export const GITHUB_TOKEN = 'ghp_0123456789';

const repository = {
  id: 7,
  full_name: 'ann/tools',
  private: true,
  stargazers_count: 3,
  pushed_at: '2025-01-02T03:04:05Z',
  default_branch: 'main',
};
const next = { link: '<https://api.github.com/user/repos?page=2>; rel="next"' };
const branch = (name: string) => ({ name, commit: { sha: `sha-${name}` }, protected: name === 'main' });

interface Pull {
  readonly head: string;
  readonly base: string;
}

/** GitHub Enterprise: the API is under `/api/v3`. Of two pull requests for the same branches it refuses the second, as GitHub does. */
export function fakeGitHub(): Promise<FakeProvider> {
  const pulls: Pull[] = [];
  const shown = (number: number) => ({ number, html_url: `https://github.example/ann/tools/pull/${number}` });
  const mine = { ...repository, owner: { type: 'User' } };
  const theirs = { ...repository, full_name: 'org/tools', owner: { type: 'Organization' } };
  return fakeProvider(GITHUB_TOKEN, {
    'GET /api/v3/user': () => ({ body: { id: 1, login: 'ann', avatar_url: 'http://a/x.png', company: null, name: 'Ann', email: null } }),
    'GET /api/v3/user/repos': () => ({ headers: next, body: [mine] }),
    'GET /api/v3/user/installations': () => ({ body: { total_count: 1, installations: [{ id: 42 }] } }),
    'GET /api/v3/user/installations/42/repositories': () => ({ body: { total_count: 1, repositories: [theirs] } }),
    'GET /api/v3/search/repositories': () => ({ body: { total_count: 1, items: [mine] } }),
    'GET /api/v3/repos/ann/tools/branches': ({ searchParams }) =>
      searchParams.get('page') === '2' ? { body: [branch('old')] } : { headers: next, body: [branch('main')] },
    'GET /api/v3/repos/ann/tools/contents': () => ({ body: [{ type: 'file', path: '.cursorrules' }] }),
    'GET /api/v3/repos/ann/tools/contents/.openhands/microagents': () => ({
      body: [
        { type: 'file', path: '.openhands/microagents/repo.md' },
        { type: 'dir', path: '.openhands/microagents/deep' },
      ],
    }),
    'GET /api/v3/repos/ann/tools/contents/.openhands/microagents/repo.md': () => ({ body: '---\ntriggers: [tabs]\n---\nNo tabs.' }),
    'POST /api/v3/repos/ann/tools/pulls': (_url, body) => {
      const asked = JSON.parse(body) as Pull;
      if (asked.head === 'unchanged') return { status: 422, body: invalid('No commits between main and unchanged') };
      if (pulls.some(({ head, base }) => head === asked.head && base === asked.base)) {
        return { status: 422, body: invalid(`A pull request already exists for ann:${asked.head}.`) };
      }
      return { status: 201, body: shown(pulls.push(asked) + 10) };
    },
    'GET /api/v3/repos/ann/tools/pulls': ({ searchParams }) => {
      const found = pulls.findIndex(({ head, base }) => `ann:${head}` === searchParams.get('head') && base === searchParams.get('base'));
      return { body: found < 0 ? [] : [{ ...shown(found + 11), head: { ref: pulls[found]!.head } }] };
    },
    'POST /api/v3/repos/ann/tools/issues/11/labels': (_url, body) => (body.includes('unknown') ? { status: 404 } : { body: [] }),
    'POST /api/graphql': (_url, body) => ({ body: { data: body.includes('refPrefix') ? foundBranches : tasks } }),
  });
}

const invalid = (message: string) => ({
  message: 'Validation Failed',
  errors: [{ resource: 'PullRequest', code: 'custom', message }],
});
const foundBranches = {
  repository: {
    refs: { nodes: [{ name: 'main', target: { oid: 'abc', committedDate: '2025-01-02T00:00:00Z' }, branchProtectionRule: { id: 'x' } }] },
  },
};
const pull = (number: number, more: object) => ({
  number,
  title: `pull ${number}`,
  repository: { nameWithOwner: 'ann/tools' },
  mergeable: 'MERGEABLE',
  commits: { nodes: [{ commit: { statusCheckRollup: null } }] },
  reviews: { nodes: [] },
  ...more,
});
const tasks = {
  viewer: {
    pullRequests: {
      nodes: [
        pull(1, { mergeable: 'CONFLICTING' }),
        pull(2, { commits: { nodes: [{ commit: { statusCheckRollup: { state: 'FAILURE' } } }] } }),
        pull(3, { reviews: { nodes: [{ state: 'COMMENTED' }] } }),
        pull(4, {}),
      ],
    },
  },
  search: { nodes: [{ number: 9, title: 'issue', repository: { nameWithOwner: 'org/tools' } }] },
};
