import { expect, it } from 'vitest';
import { cloneFailure, cloneProgress } from '../git/repository/prepare-repository.ts';
import { readRepository } from './repository-source.ts';

const read = (repository: string, provider?: string, host?: string) =>
  readRepository({ repository, provider }, { set: host ? { gitlab: host } : {} });

it.each([
  ['o/r', undefined, undefined, 'https://github.com/o/r.git', 'r'],
  ['group/sub/r.js', 'gitlab', undefined, 'https://gitlab.com/group/sub/r.js.git', 'r.js'],
  ['o/r', 'gitlab', 'git.corp.example:8443', 'https://git.corp.example:8443/o/r.git', 'r'],
  ['o/r', 'bitbucket', undefined, 'https://bitbucket.org/o/r.git', 'r'],
  ['https://codeberg.org/o/r.git', undefined, undefined, 'https://codeberg.org/o/r.git', 'r'],
  ['https://codeberg.org/o/r/', undefined, undefined, 'https://codeberg.org/o/r.git', 'r'],
])('SV56: %s of %s is a repository', (repository, provider, host, url, folder) => {
  expect(read(repository, provider, host)).toEqual({ ok: true, source: { url, folder, branch: undefined } });
});

it.each([
  'r',
  '',
  '../../etc/passwd',
  'o/..',
  'o/.git',
  'o/-r',
  'a b/c',
  'https://u:p@x.example/o/r',
  'https://x.example/o/r?x=1',
  'file:///etc/x',
  'o/r;id',
  'o/$(id)',
])('SV56: %j is not', (repository) => expect(read(repository)).toMatchObject({ ok: false }));

it.each(['--force', 'a..b', 'a b', 'x~1', 'a.lock', '@{0}', 'a/'])('SV56: %j is no branch', (branch) => {
  expect(readRepository({ repository: 'o/r', branch }, { set: {} })).toMatchObject({ ok: false });
});

it('SV58: progress is reported once a step, failures without it', () => {
  const reported: string[] = [];
  const take = cloneProgress((words) => reported.push(words));
  for (const chunk of [
    "Cloning into 'x'...\nremote: Counting obj",
    'ects: 100% (3/3), done.\nReceiving objects:  33% (1/3)\rReceiving objects: 100% (3/3)\r',
    '\n',
  ])
    take(chunk);
  expect(reported).toEqual(['Counting objects: 100%', 'Receiving objects: 100%'].slice(-reported.length));
  expect(cloneFailure("Cloning into 'x'...\nremote: Counting objects: 10%\rfatal: Remote branch y not found\n")).toBe(
    'fatal: Remote branch y not found',
  );
});
