/** What git does, in folders of this machine: no sandbox is needed for that. */
import { execFile, execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../server.test-support.ts';
import { BUNDLE, collectScript, DELETED, DELETED_SCRIPT, PATCH, prepareScript, takeScript } from './copy-scripts.ts';
import { readChanges } from './isolated-copies.ts';

const BRANCH = 'tendon/1234abcd';

/** A workspace, and a home in which git knows nobody. */
function places() {
  const top = temporaryFolder();
  const [workspace, copy] = [join(top, 'workspace'), join(top, 'copy')];
  mkdirSync(workspace);
  const env = { PATH: process.env.PATH, HOME: top };
  const run = (cwd: string, script: string): string => execFileSync('bash', ['-c', script], { cwd, env, encoding: 'utf8' });
  const git = (cwd: string, ...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd, env, encoding: 'utf8' }).trim();
  const begin = (alter = (): void => undefined): void => {
    cpSync(workspace, copy, { recursive: true });
    alter();
    run(copy, prepareScript(BRANCH, { name: 'tendon', email: 'tendon@localhost' }));
  };
  return { workspace, copy, env, run, git, begin, collect: () => readChanges(run(copy, collectScript(BRANCH, 'the part'))) };
}

function repository(at: string, git: (cwd: string, ...args: string[]) => string): void {
  mkdirSync(at, { recursive: true });
  git(at, 'init', '-q', '-b', 'main');
  for (const name of ['a', 'b', '.env']) writeFileSync(join(at, name), `${name}\n`);
  git(at, 'add', '-A');
  git(at, 'commit', '-qm', 'first');
}

it('EN951: what the agent has committed and what it has not is on its branch, and a merge takes it', () => {
  const { workspace, copy, run, git, begin, collect } = places();
  repository(workspace, git);
  begin();
  expect(git(copy, 'symbolic-ref', 'HEAD')).toBe(`refs/heads/${BRANCH}`);
  writeFileSync(join(copy, 'a'), 'changed\n');
  git(copy, 'commit', '-qam', 'own');
  writeFileSync(join(copy, 'new'), 'new\n');
  const [change, ...others] = collect();
  expect([change, others]).toMatchObject([
    { place: '.', isBaseOwn: false, stat: expect.stringContaining('2 files changed') as string },
    [],
  ]);
  cpSync(join(copy, BUNDLE), join(workspace, '.git/taken'));
  run(workspace, takeScript({ place: '.', file: '.git/taken', branch: BRANCH, tip: change!.tip }));
  expect([existsSync(join(workspace, 'new')), existsSync(join(workspace, '.git/taken'))]).toEqual([false, false]);
  git(workspace, 'merge', '-q', BRANCH);
  expect([readFileSync(join(workspace, 'a'), 'utf8'), readFileSync(join(workspace, 'new'), 'utf8')]).toEqual(['changed\n', 'new\n']);
  expect(git(workspace, 'log', '--format=%s').split('\n')).toEqual(['the part', 'own', 'first']);
  expect(collect()).toEqual([change]);
});

it('EN950: it begins with what is not committed, deletions too, and its own commits can be taken alone', () => {
  const { workspace, copy, run, git, begin, collect } = places();
  repository(workspace, git);
  writeFileSync(join(workspace, 'a'), 'not committed\n');
  rmSync(join(workspace, 'b'));
  expect(run(workspace, DELETED_SCRIPT)).toBe('.\0b\0\0');
  begin(() => {
    rmSync(join(copy, '.env')); // copies leave it out
    writeFileSync(join(copy, DELETED), 'b\0');
  });
  expect([existsSync(join(copy, 'b')), readFileSync(join(copy, '.env'), 'utf8'), git(copy, 'status', '--porcelain')]).toEqual([
    false,
    '.env\n',
    '',
  ]);
  expect(collect()).toEqual([]);
  const nested = `${copy} of copy`;
  cpSync(copy, nested, { recursive: true });
  run(nested, prepareScript('tendon/5678', { name: 'tendon', email: 'tendon@localhost' }));
  writeFileSync(join(nested, 'below'), 'new\n');
  expect(git(nested, 'symbolic-ref', 'HEAD')).toBe('refs/heads/tendon/5678');
  expect(readChanges(run(nested, collectScript('tendon/5678', 'the part')))).toMatchObject([{ place: '.', isBaseOwn: false }]);
  writeFileSync(join(copy, 'new'), 'new\n');
  const [change] = collect();
  expect(change).toMatchObject({ isBaseOwn: true });
  cpSync(join(copy, BUNDLE), join(workspace, '.git/taken'));
  run(workspace, takeScript({ place: '.', file: '.git/taken', branch: BRANCH, tip: change!.tip }));
  git(workspace, 'cherry-pick', `${change!.base}..${BRANCH}`);
  expect(git(workspace, 'show', '--stat', '--format=%s', 'HEAD')).toMatch(/^the part\n\n new \| 1 \+/);
  expect(git(workspace, 'status', '--porcelain')).toBe('M a\n D b');
});

it('EN951: each repository of the workspace has the branch, and files beside them, new repositories too, are a patch', () => {
  const { workspace, copy, git, begin, collect } = places();
  repository(join(workspace, 'one'), git);
  repository(join(workspace, 'two'), git);
  writeFileSync(join(workspace, 'beside'), 'beside\n');
  begin();
  writeFileSync(join(copy, 'two/a'), 'changed\n');
  writeFileSync(join(copy, 'beside'), 'changed\n');
  repository(join(copy, 'made'), git);
  const changes = collect();
  expect(changes.map(({ place }) => place)).toEqual(['two', '']);
  git(workspace, 'apply', join(copy, PATCH));
  expect([readFileSync(join(workspace, 'beside'), 'utf8'), readFileSync(join(workspace, 'made/a'), 'utf8')]).toEqual(['changed\n', 'a\n']);
  expect([git(join(copy, 'made'), 'log', '--format=%s'), existsSync(join(workspace, 'made/.git'))]).toEqual(['first', false]);
});

it('EN952: what is on no branch is no reason to remove the copy, and an unchanged one is known', () => {
  const { workspace, copy, git, begin, collect } = places();
  repository(workspace, git);
  begin();
  expect(collect()).toEqual([]);
  git(copy, 'checkout', '-q', 'main');
  expect(collect()).toEqual([]);
  writeFileSync(join(copy, 'a'), 'changed\n');
  git(copy, 'stash', '-q');
  expect(collect()).toMatchObject([{ place: '.', tip: '' }]);
});

it('EN951: a repository without a commit, and names that a copy gives, do no harm', () => {
  const { workspace, copy, git, begin, collect } = places();
  git(workspace, 'init', '-q');
  begin();
  writeFileSync(join(copy, 'a'), 'a\n');
  expect(collect()).toMatchObject([{ place: '.', isBaseOwn: true }]);
  const oid = 'a'.repeat(40);
  const given = ['', '../out', oid, oid, '', '', '..', oid, oid, '', '', '.', 'HEAD; rm', oid, '', '', 'x', oid, oid, 'stat'];
  expect(readChanges(given.map((field) => `${field}\0`).join(''))).toEqual([
    { place: 'x', tip: oid, base: oid, isBaseOwn: false, stat: 'stat' },
  ]);
});

it('EN952: what is in repositories inside one, or on other branches, is reported, and is no unchanged copy', () => {
  const { workspace, copy, git, begin, collect } = places();
  repository(join(workspace, 'deep/inner'), git);
  begin();
  expect(collect()).toEqual([]);
  writeFileSync(join(copy, 'deep/inner/a'), 'changed\n');
  expect(collect()).toMatchObject([{ place: '', tip: '' }]);
  git(join(copy, 'deep/inner'), 'commit', '-qam', 'own');
  expect(collect().at(-1)).toMatchObject({ place: '', tip: '' });

  const other = places();
  repository(other.workspace, other.git);
  other.begin();
  other.git(other.copy, 'checkout', '-qb', 'other');
  writeFileSync(join(other.copy, 'a'), 'other\n');
  other.git(other.copy, 'commit', '-qam', 'other');
  other.git(other.copy, 'checkout', '-q', BRANCH);
  writeFileSync(join(other.copy, 'a'), 'changed\n');
  expect(other.collect()).toMatchObject([
    { place: '.', stat: expect.stringContaining('1 file changed') as string },
    { place: '.', tip: '' },
  ]);
});

it('EN952: what was changed in a submodule is reported, and is no unchanged copy', () => {
  const { workspace, copy, git, begin, collect } = places();
  repository(workspace, git);
  repository(`${workspace}-module`, git);
  git(workspace, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', `${workspace}-module`, 'module');
  git(workspace, 'commit', '-qm', 'module');
  begin(() => rmSync(join(copy, 'module/.git'))); // copies leave it out
  expect(collect()).toEqual([]);
  writeFileSync(join(copy, 'module/a'), 'changed\n');
  expect(collect()).toMatchObject([{ place: '.', tip: '' }]);
});

it('EN952: a copy whose history its agent has removed is none that is unchanged', () => {
  const { workspace, copy, git, begin, collect } = places();
  repository(workspace, git);
  begin();
  rmSync(join(copy, '.git'), { recursive: true });
  git(copy, 'init', '-q');
  expect(collect()).toMatchObject([{ place: '.', tip: '', base: '' }]);

  const two = places();
  repository(join(two.workspace, 'one'), two.git);
  repository(join(two.workspace, 'two'), two.git);
  two.begin();
  rmSync(join(two.copy, 'one/.git'), { recursive: true });
  two.git(join(two.copy, 'one'), 'init', '-q');
  writeFileSync(join(two.copy, 'two/a'), 'changed\n');
  expect(two.collect().map(({ place, base }) => [place, base === ''])).toEqual([
    ['one', true],
    ['two', false],
  ]);
  rmSync(join(two.copy, '.tendon'), { recursive: true });
  expect(two.collect()).toMatchObject([{ place: '.', tip: '', base: '' }]);
});

it('EN951: a copy of a repository is files that the agent has made, and a place that is no repository takes nothing', () => {
  const { workspace, copy, run, git, begin, collect } = places();
  repository(join(workspace, 'a [name]'), git);
  begin();
  expect(collect()).toEqual([]);
  cpSync(join(copy, 'a [name]'), join(copy, 'again'), { recursive: true });
  git(workspace, 'config', '--global', 'diff.noprefix', 'true');
  expect(collect().map(({ place }) => place)).toEqual(['']);
  git(workspace, 'apply', '-p1', join(copy, PATCH));
  expect(readFileSync(join(workspace, 'again/a'), 'utf8')).toBe('a\n');
  git(workspace, 'init', '-q');
  git(join(workspace, 'a [name]'), 'bundle', 'create', '-q', '../bundle', 'main');
  const tip = git(join(workspace, 'a [name]'), 'rev-parse', 'main');
  expect(() => run(workspace, takeScript({ place: 'again', file: 'bundle', branch: BRANCH, tip }))).toThrow('Command failed');
  expect([git(workspace, 'for-each-ref'), existsSync(join(workspace, 'bundle'))]).toEqual(['', false]);
});

it('EN951: warnings for each file are not printed, so that the changes are not cut off', () => {
  const { workspace, copy, run, git, begin } = places();
  repository(workspace, git);
  git(workspace, 'config', 'core.autocrlf', 'true');
  begin();
  for (let at = 0; at < 50; at++) writeFileSync(join(copy, `new ${at}`), 'new\n');
  expect(run(copy, collectScript(BRANCH, 'the part'))).not.toContain('warning');
});

it('EN953: what a killed server has left at work in the copy, and the next server’s own, do not disturb each other', async () => {
  const { workspace, copy, git, begin, env } = places();
  repository(join(workspace, 'inner'), git);
  begin();
  for (let number = 0; number < 300; number += 1) writeFileSync(join(copy, 'inner', `new-${number}`), `${number}\n`.repeat(2000));
  const collect = async () => {
    const { stdout } = await promisify(execFile)('bash', ['-c', collectScript(BRANCH, 'the part')], { cwd: copy, env });
    return readChanges(stdout);
  };
  const [first, ...others] = await Promise.all([collect(), collect(), collect()]);
  expect(first).toMatchObject([{ place: 'inner', tip: expect.stringMatching(/^[0-9a-f]{40}$/) as string }]);
  expect(others).toEqual([first, first]);
});
