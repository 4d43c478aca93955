import type { WorkspaceRepository } from '@tendon/protocol';
import { expect, it } from 'vitest';
import { planPullRequest, planWords } from './pull-request.ts';

const REPOSITORY: WorkspaceRepository = {
  folder: '',
  branch: 'main',
  ahead: 0,
  branches: ['main', 'tendon/fix-it'],
  default_branch: 'main',
  remote: { provider: 'github', repository: 'ann/tools', has_token: true },
  uncommitted: { count: 2, paths: ['a', 'b'] },
};

it('CK1000: what a pull request takes is known before it is made', () => {
  const plan = planPullRequest(REPOSITORY, 'Fix it!');
  expect(typeof plan === 'string' ? plan : planWords(plan)).toEqual([
    'make the branch tendon/fix-it-2',
    'commit 2 files: Fix it!',
    'push tendon/fix-it-2 to ann/tools',
    'open a pull request into main: Fix it!',
  ]);
  const own = planPullRequest({ ...REPOSITORY, branch: 'mine', uncommitted: { count: 0, paths: [] } }, '修正');
  expect(typeof own === 'string' ? own : planWords(own)).toEqual(['push mine to ann/tools', 'open a pull request into main: 修正']);
});

it.each([
  [null, 'no git repository'],
  [{ ...REPOSITORY, remote: null }, 'git remote add origin'],
  [{ ...REPOSITORY, remote: { ...REPOSITORY.remote!, has_token: false } }, 'no token for github'],
  [{ ...REPOSITORY, uncommitted: { count: 0, paths: [] } }, 'Nothing was changed'],
])('CK1000: where there can be none it says what is missing (%#)', (repository, words) => {
  expect(planPullRequest(repository, 'x')).toContain(words);
});
