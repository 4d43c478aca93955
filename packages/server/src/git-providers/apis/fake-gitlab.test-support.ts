import { fakeProvider, type FakeProvider } from './fake-provider.test-support.ts';

export const GITLAB_TOKEN = 'glpat-0123456789';

const project = {
  id: 5,
  path_with_namespace: 'team/sub/app',
  visibility: 'public',
  star_count: 2,
  last_activity_at: '2025-01-02T03:04:05Z',
  default_branch: 'trunk',
  namespace: { kind: 'group' },
};
const paging = { 'x-next-page': '2', 'x-page': '1', 'x-per-page': '1', 'x-total': '2', 'x-total-pages': '2' };
const request = (iid: number, more: object = {}) => ({
  iid,
  title: `request ${iid}`,
  project_id: 5,
  references: { full: `team/sub/app!${iid}` },
  has_conflicts: false,
  blocking_discussions_resolved: true,
  ...more,
});

const shown = (iid: number) => ({ iid, web_url: `https://gitlab.example/team/sub/app/-/merge_requests/${iid}` });

export function fakeGitLab(): Promise<FakeProvider> {
  return fakeProvider(GITLAB_TOKEN, {
    'GET /api/v4/user': () => ({ body: { id: 3, username: 'bob', avatar_url: null, organization: 'Team', name: 'Bob', email: 'b@x' } }),
    'GET /api/v4/projects': () => ({ headers: paging, body: [project] }),
    'GET /api/v4/projects/team/sub/app/repository/branches': () => ({
      headers: paging,
      body: [{ name: 'trunk', protected: true, commit: { id: 'abc', committed_date: '2025-01-02T00:00:00Z' } }],
    }),
    'GET /api/v4/projects/team/sub/app/repository/tree': ({ searchParams }) => ({
      body: searchParams.get('path') ? [{ type: 'blob', path: '.openhands/microagents/ci.md' }] : [{ type: 'tree', path: 'src' }],
    }),
    'GET /api/v4/projects/team/sub/app/repository/files/.openhands/microagents/ci.md/raw': () => ({ body: 'Run it.' }),
    'POST /api/v4/projects/team/sub/app/merge_requests': (_url, body) => {
      const { source_branch } = JSON.parse(body) as { readonly source_branch: string };
      if (source_branch !== 'taken') return { status: 201, body: shown(7) };
      return { status: 409, body: { message: ['Another open merge request already exists for this source branch: !6'] } };
    },
    'GET /api/v4/projects/team/sub/app/merge_requests': ({ searchParams }) => ({
      body: searchParams.get('source_branch') === 'taken' ? [shown(6)] : [],
    }),
    'GET /api/v4/merge_requests': () => ({
      body: [request(1, { has_conflicts: true }), request(2), request(3, { blocking_discussions_resolved: false }), request(4)],
    }),
    'GET /api/v4/projects/5/merge_requests/2': () => ({ body: { head_pipeline: { status: 'failed' } } }),
    'GET /api/v4/projects/5/merge_requests/3': () => ({ body: { head_pipeline: null } }),
    'GET /api/v4/projects/5/merge_requests/4': () => ({ body: { head_pipeline: { status: 'success' } } }),
    'GET /api/v4/issues': () => ({ body: [{ iid: 8, title: 'issue', references: { full: 'team/sub/app#8' } }] }),
  });
}
