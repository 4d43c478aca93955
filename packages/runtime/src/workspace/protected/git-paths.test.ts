import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { holdFolder } from '../held-folder.ts';
import { gitPaths } from './git-paths.ts';

const ALWAYS = ['config', 'hooks', 'commondir', 'config.worktree'];

/** What is found beside what every git folder has, in a project whose `.git` has these files. */
async function found(files: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const project = realpathSync(mkdtempSync(join(tmpdir(), 'tendon-git-')));
  onTestFinished(() => rmSync(project, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(project, '.git', name)), { recursive: true });
    writeFileSync(join(project, '.git', name), text.replaceAll('PROJECT', project));
  }
  const held = await holdFolder(project);
  onTestFinished(() => held.close());
  const paths = (await gitPaths(held, '')).map(({ path }) => path);
  return paths.filter((path) => !path.startsWith('.git/') || !ALWAYS.includes(path.split('/').at(-1)!));
}

it.each([
  ['a comment behind it', 'path = a.inc # mine', '.git/a.inc'],
  ['a comment of the other kind', 'path = ../a.inc;mine', 'a.inc'],
  ['the sign of a comment in quotes', 'path = "../a#b;c" # mine', 'a#b;c'],
  ['quotes in the middle and escapes', 'path = ../a" \\"b"\\\\c', 'a "b\\c'],
  ['a line that goes on', 'path = ../a\\\nb', 'ab'],
  ['line ends of another system', 'path = ../a\\\r\nb\r', 'ab'],
  ['its key behind the section', '[include] path=../a', 'a'],
  ['its own absolute path', 'path = PROJECT/a', 'a'],
])('SB473: an included file is found as git reads its name: %s', async (_, line, path) => {
  expect(await found({ config: `[include]\n\t${line}\n` })).toContain(path);
});

it('SB473: a line that a comment seems to continue is read by itself', async () => {
  expect(await found({ config: '[include]\npath = ../a # mine \\\npath = ../b\n' })).toEqual(['a', 'b']);
});

it.each(['~/hooks', '~somebody/hooks', '%(prefix)/hooks', '~'])('SB474: %s makes no folder of that name in the project', async (value) => {
  expect(await found({ config: `[core]\nhooksPath = ${value}\n[include]\npath = ${value}\n` })).toEqual([]);
});

it('SB473: a path below the home is found where the project lies in it', async () => {
  const up = relative(homedir(), '/');
  expect(await found({ config: `[core]\nhooksPath = ~/${up}PROJECT/hooks\n` })).toEqual(['hooks']);
});

it('SB473: hooks of a submodule are looked for where its files are, those of a bare repository in itself', async () => {
  const module = { 'modules/sub/HEAD': '', 'modules/sub/objects/x': '', 'modules/sub/refs/x': '' };
  const config = '[core]\n\tworktree = ../../../libs/sub\n\thooksPath = .husky/_\n';
  expect(await found({ config: '', ...module, 'modules/sub/config': config })).toEqual(['libs/sub/.husky']);
  const inTop = '[core]\n\tworktree = ../../..\n\thooksPath = tools\n';
  expect(await found({ config: '', ...module, 'modules/sub/config': inTop })).toEqual(['tools']);
  expect(await found({ config: '', ...module, 'modules/sub/config': '[core]\nbare = true\nhooksPath = own\n' })).toEqual([
    '.git/modules/sub/own',
  ]);
});

it('SB567: of a configuration without end the first values are read, and none for long', async () => {
  const many = Array.from({ length: 1000 }, (_, index) => `path = ../include-${index}\n`).join('');
  expect(await found({ config: `[include]\n${many}` })).toHaveLength(64);
  // Each value would go on to the end of the file.
  const endless = 'path="\\\n'.repeat(28_000);
  expect(await found({ config: `[include]\n${endless}` })).not.toContain('include');
});
