import { BranchName, type WorkspaceRepository } from '@tendon/protocol';
import { Secret } from '@tendon/protocol/masking';
import { expect, it } from 'vitest';
import { pullRequestCall, pushCommand, whyNoPullRequest } from './pull-request.ts';
import { readState } from './repository-state.ts';
import { withoutHunk } from './revert-change.ts';
import { versionOf } from './file-versions.ts';

const tokens = { logins: [{ provider: 'gitlab' as const, host: 'git.example:8443', token: new Secret('glpat-0123456789') }] };
const printed = (url: string, ...status: readonly string[]) =>
  ['.', 'work', '2', url, 'origin/main', 'ann', 'refs/heads/work\nrefs/remotes/origin/HEAD\nrefs/remotes/origin/main', ...status, ''].join(
    '\0',
  );

it('SV953: what git prints of a repository is read, and its remote is known by the address', () => {
  const { shown, hasIdentity } = readState(printed('https://github.com/ann/tools.git', ' M a b', '?? é'), tokens);
  expect(hasIdentity).toBe(true);
  expect(shown).toEqual({
    folder: '',
    branch: 'work',
    ahead: 2,
    branches: ['work', 'main'],
    default_branch: 'main',
    remote: { provider: 'github', repository: 'ann/tools', has_token: false },
    uncommitted: { count: 2, paths: ['a b', 'é'] },
  });
  const remote = (url: string) => readState(printed(url), tokens).shown.remote;
  const mine = { provider: 'gitlab', repository: 'team/sub/app', has_token: true };
  for (const url of ['https://git.example:8443/team/sub/app', 'https://ann:pw@git.example:8443/team/sub/app.git/'])
    expect(remote(url)).toEqual(mine);
  expect(remote('git@gitlab.com:team/app.git')).toEqual({ provider: 'gitlab', repository: 'team/app', has_token: false });
  for (const url of ['', '/srv/repo', 'https://github.com.evil.example/a/b', 'https://github.com/../../x', 'file:///a/b', 'ext::sh -c x'])
    expect([url, remote(url)]).toEqual([url, null]);
  for (const text of ['', '\0', 'x', '\0\0\0\0']) expect(readState(text, tokens).shown.uncommitted.count).toBe(0);
});

it('SV955: a pull request is opened from a branch of its own, at the repository that the person saw', () => {
  const { shown } = readState(printed('https://git.example:8443/team/app'), tokens);
  const request = { repository: 'team/app', target: 'main', title: 'Mend it', body: 'Why.', draft: true };
  expect(whyNoPullRequest(shown, request)).toBeUndefined();
  expect(pullRequestCall(shown, request)).toEqual({
    name: 'create_mr',
    args: { id: 'team/app', source_branch: 'work', target_branch: 'main', title: 'Mend it', description: 'Why.' },
  });
  const refusals: readonly [Partial<WorkspaceRepository>, RegExp][] = [
    [{ branch: null }, /no branch/],
    [{ branch: 'main' }, /itself/],
    [{ remote: null }, /no git provider/],
    [{ remote: { ...shown.remote!, repository: 'evil/app' } }, /evil\/app now/],
    [{ remote: { ...shown.remote!, has_token: false } }, /no token/],
  ];
  for (const [change, words] of refusals) expect(whyNoPullRequest({ ...shown, ...change }, request)).toMatch(words);
  expect(pushCommand({ ...shown, branch: "a'b" })).toBe(`git push -u origin 'HEAD:refs/heads/a'\\''b'`);
  for (const name of ['-x', 'a..b', 'a b', 'a\nb', 'a@{1}', 'x.lock', 'a/', '', 'a~1', '.a/.b'])
    expect([name, BranchName.safeParse(name).success]).toEqual([name, false]);
});

it('SV954: a hunk goes back line by line, and nothing else of the text changes', () => {
  const version = (text: string) => versionOf(Buffer.from(text));
  const original = 'one\ntwo\nthree\r\nend';
  const modified = 'zero\none\nTWO\nthree\r\nend';
  const hunk = (old: readonly [number, number], now: readonly [number, number]) => ({
    old: { start: old[0], count: old[1] },
    new: { start: now[0], count: now[1] },
  });
  const back = (span: ReturnType<typeof hunk>) => withoutHunk({ original, modified, version: version(modified) }, span);
  expect(back(hunk([1, 0], [1, 1]))).toBe('one\nTWO\nthree\r\nend');
  expect(back(hunk([2, 1], [3, 1]))).toBe('zero\none\ntwo\nthree\r\nend');
  expect(back(hunk([2, 9], [3, 1]))).toBeUndefined();
  expect(withoutHunk({ original, modified, version: version('another') }, hunk([1, 0], [1, 1]))).toBe(false);
  expect(withoutHunk({ original: undefined, modified, version: version(modified) }, hunk([1, 0], [1, 5]))).toBe('');
  // What was no UTF-8 cannot come back by way of text; the rest of that file can.
  const latin = {
    original: Buffer.from('caf\u00e9\ntwo\n', 'latin1').toString('utf8'),
    modified: 'tea\nTWO\n',
    version: version('tea\nTWO\n'),
  };
  expect([withoutHunk(latin, hunk([1, 1], [1, 1])), withoutHunk(latin, hunk([2, 1], [2, 1]))]).toEqual([false, 'tea\ntwo\n']);
});
