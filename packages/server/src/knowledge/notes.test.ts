import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../server.test-support.ts';
import { Notes } from './notes.ts';

const PLACE = { id: 'c1', workspace: '/w/app', selected_repository: 'Acme/The App', git_provider: 'github' } as const;
const mask = { text: (text: string) => text.replaceAll('hunter2', '<secret_hidden>') };

function opened() {
  const home = temporaryFolder();
  const notes = new Notes(home, mask);
  const user = join(home, 'notes/user.md');
  return { home, notes, user, text: () => readFileSync(user, 'utf8') };
}

it('EN922: a line is added once, replaced and removed, and the lines of a person stay as they are', async () => {
  const { notes, text, user } = opened();
  const { take, read } = notes.of(PLACE);
  const note = (words: string, replaces?: string) => take({ about: 'user', text: words, replaces });
  expect(await note('Prefers\nnpm.')).toEqual({ ok: true, change: 'added', file: 'notes/user.md' });
  expect(text()).toBe('- Prefers npm.\n');
  writeFileSync(user, '# Mine\r\n\r\n  two  spaces\n* Prefers npm.');
  expect(await note('- Prefers npm.')).toMatchObject({ change: 'unchanged' });
  expect(await note('Likes tests.')).toMatchObject({ change: 'added' });
  for (const change of ['replaced', 'unchanged']) expect(await note('Prefers pnpm.', 'Prefers npm.')).toMatchObject({ change });
  expect(text()).toBe('# Mine\r\n\r\n  two  spaces\n- Prefers pnpm.\n- Likes tests.\n');
  for (const change of ['removed', 'unchanged']) expect(await note('', 'Likes tests.')).toMatchObject({ change });
  expect(text()).toBe('# Mine\r\n\r\n  two  spaces\n- Prefers pnpm.\n');
  expect(await read()).toMatchObject([
    { about: 'user', lines: ['two  spaces', 'Prefers pnpm.'] },
    { about: 'repository', lines: [] },
  ]);
  expect(statSync(user).mode & 0o777).toBe(0o600);
});

it('EN922: beyond 200 lines, 300 characters a line or 16 KB nothing is written, but for what makes a file shorter', async () => {
  const { notes, text, user } = opened();
  const { take } = notes.of(PLACE);
  const note = (words: string, replaces?: string) => take({ about: 'user', text: words, replaces });
  expect(await note('x'.repeat(301))).toMatchObject({ ok: false, problem: expect.stringContaining('300 characters') as string });
  expect(existsSync(user)).toBe(false);
  for (let n = 0; n < 200; n++) expect(await note(`line ${n}`)).toMatchObject({ ok: true });
  expect(await note('one more')).toMatchObject({ ok: false, problem: expect.stringContaining('200 lines') as string });
  expect(await note('one more', 'line 7')).toMatchObject({ ok: true, change: 'replaced' });
  writeFileSync(user, `${'y'.repeat(16 * 1024)}\nold\n`);
  expect(await note('short')).toMatchObject({ ok: false, problem: expect.stringContaining('16 KB') as string });
  expect(await note('', 'old')).toMatchObject({ ok: true, change: 'removed' });
  expect(text()).toBe(`${'y'.repeat(16 * 1024)}\n`);
});

it('EN922: notes that are taken at once are all there, and a known secret in none', async () => {
  const { notes, text, home } = opened();
  const { take } = notes.of(PLACE);
  await Promise.all(Array.from({ length: 50 }, (_, n) => take({ about: 'user', text: `fact ${n} hunter2` })));
  expect(text()).toBe(Array.from({ length: 50 }, (_, n) => `- fact ${n} <secret_hidden>\n`).join(''));
  expect(readdirSync(join(home, 'notes'))).toEqual(['user.md']);
});

it('EN923: conversations of one repository, or of one folder, share a file; one with a folder of its own has none', async () => {
  const { notes } = opened();
  const fileOf = async (place: object): Promise<string> => {
    const noted = await notes.of({ ...PLACE, ...place }).take({ about: 'repository', text: 'Run make.' });
    return noted.ok ? noted.file : noted.problem;
  };
  const repository = await fileOf({});
  expect(repository).toMatch(/^notes\/repositories\/acme-the-app-[0-9a-f]{12}\.md$/);
  expect(await fileOf({ id: 'c2', workspace: '/w/c2' })).toBe(repository);
  expect(await fileOf({ git_provider: 'gitlab' })).not.toBe(repository);
  const folder = await fileOf({ selected_repository: null, workspace: '/w/../../ä/é' });
  expect(folder).toMatch(/^notes\/repositories\/folder-[0-9a-f]{12}\.md$/);
  expect(await fileOf({ id: 'c2', selected_repository: null, workspace: '/w/../../ä/é' })).toBe(folder);
  expect(await fileOf({ selected_repository: null, workspace: '/home/workspaces/c1' })).toContain('a folder of its own');
  expect((await notes.list()).map(({ name }) => name)).toHaveLength(4);
});

it('EN922: a file that is a link or no text is neither followed nor written over, and is reported', async () => {
  const { home, notes } = opened();
  const outside = join(temporaryFolder(), 'file');
  writeFileSync(outside, 'not ours');
  mkdirSync(join(home, 'notes'));
  symlinkSync(outside, join(home, 'notes/user.md'));
  const { take, read } = notes.of(PLACE);
  expect(await take({ about: 'user', text: 'x' })).toEqual({ ok: false, problem: 'notes/user.md cannot be changed: it is a link' });
  await expect(read()).rejects.toThrow('it is a link');
  expect(await notes.list()).toMatchObject([{ name: 'user', text: '', problem: 'it is a link' }]);
  expect(readFileSync(outside, 'utf8')).toBe('not ours');
});

it('SV1315: what agents of one organisation note, those of another do not read', async () => {
  const { notes } = opened();
  const [acme, labs] = [notes.of({ ...PLACE, organisation_id: 'acme' }), notes.of({ ...PLACE, organisation_id: 'labs' })];
  for (const about of ['user', 'repository'] as const) expect(await acme.take({ about, text: 'of acme' })).toMatchObject({ ok: true });
  expect((await acme.read()).map(({ lines }) => lines)).toEqual([['of acme'], ['of acme']]);
  for (const other of [labs, notes.of(PLACE)]) expect((await other.read()).map(({ lines }) => lines)).toEqual([[], []]);
});
