import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startExecutor, type TestExecutor } from '../../testing/start-executor.ts';

/** Every program of this machine but ripgrep. */
const withoutRipgrep = mkdtempSync(join(tmpdir(), 'tendon-programs-'));
for (const name of readdirSync('/usr/bin')) if (name !== 'rg') symlinkSync(join('/usr/bin', name), join(withoutRipgrep, name));
afterAll(() => rmSync(withoutRipgrep, { recursive: true }));

let executor: TestExecutor;
function useExecutor(env?: NodeJS.ProcessEnv): void {
  beforeAll(async () => void (executor = await startExecutor({}, env)));
  afterAll(() => executor.kill());
}

let folders = 0;

/** A folder of the workspace with these files. */
function tree(files: Readonly<Record<string, string | Buffer>>, { workspace } = executor): string {
  const folder = join(workspace, `tree-${(folders += 1)}`);
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  return folder;
}
async function search(path: string, args: object): Promise<string> {
  const { observation, content } = await executor.act('read', { path, search: args });
  expect(observation).toBe('read');
  return content;
}
const grep = (path: string, pattern: string, include?: string): Promise<string> =>
  search(path, { kind: 'grep', pattern, ...(include && { include }) });
const glob = (path: string, pattern: string): Promise<string> => search(path, { kind: 'glob', pattern });

describe.each([
  ['ripgrep', undefined],
  ['no ripgrep', { PATH: withoutRipgrep }],
])('lines, with %s', (_name, env) => {
  useExecutor(env);

  it('RT760: are shown by file with their numbers, those of hidden files too', async () => {
    const folder = tree({ 'a.ts': 'one\ntwo three\nthree\r\n', 'b/c.md': 'three', '.github/x.yml': 'three: 3\n', 'd.ts': 'four' });
    expect(await grep(folder, 'th?ree$|three:')).toBe(
      `4 matching lines in 3 files of ${folder}:\n.github/x.yml\n1: three: 3\na.ts\n2: two three\n3: three\nb/c.md\n1: three`,
    );
    expect(await grep(folder, '(?i)THREE', '*.md')).toBe(`1 matching line in 1 file of ${folder}:\nb/c.md\n1: three`);
    expect(await grep(folder, 'three', 'b/**')).toContain('\nb/c.md\n');
    expect(await grep(join(folder, 'a.ts'), 'two')).toBe(`1 matching line in 1 file of ${join(folder, 'a.ts')}:\na.ts\n2: two three`);
    expect(await grep(folder, 'nowhere')).toBe(`No line in ${folder} matches nowhere`);
  });

  it('RT760: what is wrong is reported', async () => {
    const folder = tree({ 'a.ts': 'one' });
    expect(await grep(folder, '(')).toMatch(/^ERROR:\nNothing was searched: .*(?:regex|regular expression)/i);
    expect(await grep(join(folder, 'none'), 'x')).toMatch(/^ERROR:\n.*ENOENT/);
    expect(await grep(folder, '')).toMatch(/^ERROR:\nThe pattern is empty/);
  });

  it('RT761: binary files, ignored ones and those behind links are left out', async () => {
    const folder = tree({ '.gitignore': 'out/\n', 'out/a.ts': 'x', 'b.bin': Buffer.from('x\0x'), 'c.ts': 'x', '.git/config': 'x' });
    symlinkSync(folder, join(folder, 'again'));
    expect(await grep(folder, '^x')).toBe(`1 matching line in 1 file of ${folder}:\nc.ts\n1: x`);
  });

  it('RT762: many, long and endless lines are bounded, and what is left out is counted', async () => {
    const folder = tree({ 'a.txt': 'match\n'.repeat(1_000), 'b.txt': 'match\n'.repeat(5), 'c.txt': `match ${'y'.repeat(5_000)}\n` });
    const many = await grep(folder, 'match');
    expect(many).toMatch(/^1006 matching lines in 3 files of /);
    expect(many).toContain('[806 more matching lines in 3 files not shown: narrow the pattern or the path.]');
    expect((await grep(folder, 'match y')).length).toBeLessThan(600);
    const huge = tree({ 'a.txt': 'match '.repeat(100).concat('\n').repeat(20_000) });
    const ended = await grep(huge, 'match');
    expect(ended).toMatch(/^at least \d+ matching lines in 1 file/);
    expect(ended).toContain('There is more than can be counted.');
    expect(ended.length).toBeLessThan(20_000);
  });

  it('RT763: a pattern that takes forever ends with its cancellation, and the executor answers meanwhile', async () => {
    const folder = tree({ 'a.txt': `${'a'.repeat(60)}b` });
    const key = 'forever';
    const action = { action: 'read', args: { path: folder, search: { kind: 'grep', pattern: '^(a|a)+$' } } };
    const lines = executor.lines({ key, action });
    expect(await executor.run('echo here')).toMatchObject({ content: expect.stringContaining('here') });
    expect((await executor.call('POST', `/effects/${key}/cancel`)).status).toBe(204);
    // ripgrep takes no time for such a pattern, and may have ended before.
    expect(JSON.stringify(await lines)).toMatch(/was cancelled|No line in/);
  });
});

describe('files', () => {
  useExecutor();

  it('RT760: are found by name in any folder, and by path', async () => {
    const folder = tree({ 'a.ts': '', 'b/c.ts': '', 'b/d/e.tsx': '', 'b/d/.f.ts': '' });
    expect(await glob(folder, '*.ts')).toBe(`3 files of ${folder}:\na.ts\nb/c.ts\nb/d/.f.ts`);
    expect(await glob(folder, 'b/*.ts')).toBe(`1 file of ${folder}:\nb/c.ts`);
    expect(await glob(folder, '**/*.{tsx,md}')).toBe(`1 file of ${folder}:\nb/d/e.tsx`);
    expect(await glob(folder, '/*.ts')).toBe(`1 file of ${folder}:\na.ts`);
    expect(await glob(folder, '*.py')).toBe(`No file in ${folder} matches *.py`);
  });

  it('RT762: of many the first are shown, and the rest is counted', async () => {
    const folder = tree(Object.fromEntries(Array.from({ length: 450 }, (_, index) => [`f${String(index).padStart(3, '0')}`, ''])));
    const found = await glob(folder, 'f*');
    expect(found).toMatch(/^450 files of /);
    expect(found).toContain('\nf199\n[250 more files not shown');
  });

  it('RT761: the ignore files of a repository count as git counts them', async () => {
    const folder = tree({
      '.gitignore': [
        '# comment',
        '*.log',
        '!keep.log',
        '/top',
        'deep/*/x',
        'build/',
        'a[0-9].txt',
        'sp\\ ace',
        '**/gen/**',
        'foo.{a}',
        '',
      ].join('\n'),
      'sub/.gitignore': '!*.log\nown\n',
      'x.log': '',
      'keep.log': '',
      top: '',
      'sub/top': '',
      'deep/one/x': '',
      'deep/one/y': '',
      'deep/one/two/x': '',
      'build/z': '',
      'sub/build/z': '',
      'a1.txt': '',
      'ab.txt': '',
      'sp ace': '',
      'p/gen/q': '',
      'sub/y.log': '',
      'sub/own': '',
      own: '',
      'file-build': '',
      '.ünï': '',
    });
    const git = (...args: string[]): string => execFileSync('git', ['-C', folder, ...args], { encoding: 'utf8' });
    git('init', '-q');
    writeFileSync(join(folder, '.git/info/exclude'), 'sub/top\n');
    const wanted = git('ls-files', '-z', '-co', '--exclude-standard').split('\0').slice(0, -1).toSorted();
    const shown = (text: string): string[] => text.split('\n').slice(1).toSorted();
    expect(shown(await glob(folder, '*'))).toEqual(wanted);
    const below = wanted.filter((name) => name.startsWith('sub/')).map((name) => name.slice(4));
    expect(shown(await glob(join(folder, 'sub'), '*'))).toEqual(below);
  });
});

it('RT760: with and without ripgrep the same is found', async () => {
  const [withRipgrep, without] = [await startExecutor(), await startExecutor({}, { PATH: withoutRipgrep })];
  try {
    expect(await withRipgrep.run('command -v rg')).toMatchObject({ exitCode: 0 });
    expect(await without.run('command -v rg')).toMatchObject({ exitCode: 1 });
    const folder = tree(
      { '.gitignore': '*.log\n', 'a/b.ts': 'x = 1\ny\n', 'a.log': 'x', '.hidden': 'x', 'z.bin': Buffer.from('x\0') },
      withRipgrep,
    );
    const found = await Promise.all(
      [withRipgrep, without].map((each) => each.act('read', { path: folder, search: { kind: 'grep', pattern: 'x' } })),
    );
    expect(found[0]!.content).toContain('1: x = 1');
    expect(found[1]!.content).toBe(found[0]!.content);
  } finally {
    await Promise.all([withRipgrep.kill(), without.kill()]);
  }
});
