import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createSandboxFiles } from './sandbox-files.ts';
import { testFiles } from './files.test-support.ts';

const files = testFiles();
const { folder, disk, own } = files;

describe('what is the executor’s own', () => {
  mkdirSync(own);
  writeFileSync(join(own, 'journal'), 'stored');

  it.each([
    ['its path', () => join(own, 'journal')],
    [
      'a link to the file',
      () => {
        symlinkSync(join(own, 'journal'), join(folder, 'to-file'));
        return join(folder, 'to-file');
      },
    ],
    [
      'a link to the folder',
      () => {
        symlinkSync(own, join(folder, 'to-folder'));
        return join(folder, 'to-folder/journal');
      },
    ],
  ])('RT68: is neither read nor written through %s', async (_name, make) => {
    const path = make();
    expect((await files.edit('view', path)).content).toMatch(/^ERROR:\n.*belongs to the runtime itself/);
    expect((await files.edit('write', path, { file_text: 'x' })).content).toMatch(/^ERROR:\n.*belongs to the runtime itself/);
    expect(await files.read({ path })).toMatchObject({ observation: 'error' });
    expect(await files.write({ path, content: 'x' })).toMatchObject({ observation: 'error' });
    expect(readFileSync(join(own, 'journal'), 'utf8')).toBe('stored');
    expect(readdirSync(own)).toEqual(['journal']);
  });

  it('RT490: no folder is made in it for a file that is refused, and nothing of it is listed', async () => {
    symlinkSync(own, join(folder, 'in'));
    for (const way of [own, join(folder, 'in')]) {
      expect(await files.write({ path: join(way, 'new/er/file'), content: 'x' })).toMatchObject({ observation: 'error' });
      expect((await files.edit('create', join(way, 'new/file'), { file_text: 'x' })).content).toMatch(/belongs to the runtime itself/);
      expect((await files.edit('view', way)).content).toMatch(/belongs to the runtime itself/);
      await expect(createSandboxFiles(folder, disk, () => {}).list(way)).rejects.toThrow('belongs to the runtime itself');
    }
    expect((await files.edit('view', folder)).content).not.toContain('journal');
    expect(readdirSync(own)).toEqual(['journal']);
  });

  it('RT68: a link that is exchanged while a file is written leads nowhere else', async () => {
    const [real, way] = [join(folder, 'real'), join(folder, 'way')];
    mkdirSync(real);
    symlinkSync(real, way);
    await disk.replace(join(way, 'journal'), async (file) => {
      rmSync(way);
      symlinkSync(own, way);
      await file.writeFile('new');
    });
    expect(readFileSync(join(own, 'journal'), 'utf8')).toBe('stored');
    expect(readFileSync(join(real, 'journal'), 'utf8')).toBe('new');
  });

  it('RT61, RT68: a folder that is moved while a file is written keeps it', async () => {
    const [before, after] = [join(folder, 'before'), join(folder, 'after')];
    mkdirSync(before);
    await disk.replace(join(before, 'a'), async (file) => {
      renameSync(before, after);
      await file.writeFile('new');
    });
    expect(readdirSync(after)).toEqual(['a']);
  });
});

describe('replacing', () => {
  it('RT61: a failure in the middle leaves the old content and nothing else', async () => {
    const inner = join(folder, 'failing');
    mkdirSync(inner);
    writeFileSync(join(inner, 'a'), 'old');
    const failure = disk.replace(join(inner, 'a'), async (file) => {
      await file.writeFile('half');
      throw new Error('the disk is full');
    });
    await expect(failure).rejects.toThrow('the disk is full');
    expect(readFileSync(join(inner, 'a'), 'utf8')).toBe('old');
    expect(readdirSync(inner)).toEqual(['a']);
    expect(readdirSync(files.notes)).toEqual([]);
  });

  it('RT61: a link that leads nowhere yet stays a link', async () => {
    symlinkSync('later.txt', join(folder, 'early'));
    await files.edit('create', join(folder, 'early'), { file_text: 'made' });
    expect(readFileSync(join(folder, 'later.txt'), 'utf8')).toBe('made');
    expect(
      readdirSync(folder, { withFileTypes: true })
        .find(({ name }) => name === 'early')
        ?.isSymbolicLink(),
    ).toBe(true);
  });

  it('RT61: links in a circle are an error', async () => {
    symlinkSync('circle', join(folder, 'circle'));
    expect(await files.write({ path: 'circle', content: 'x' })).toMatchObject({ observation: 'error' });
  });

  it('RT61: another name of the same file keeps the old content', async () => {
    const path = files.file('old');
    linkSync(path, `${path}.other`);
    await files.edit('write', path, { file_text: 'new' });
    expect(readFileSync(`${path}.other`, 'utf8')).toBe('old');
  });

  it.runIf(process.getuid?.() === 0)('RT60: owner, group and mode stay, but for what makes a program run as its owner', async () => {
    const path = files.file('x');
    execFileSync('chown', ['1234:5678', path]);
    execFileSync('chmod', ['7751', path]);
    await files.edit('str_replace', path, { old_str: 'x', new_str: 'y' });
    const { uid, gid, mode } = statSync(path);
    expect([uid, gid, (mode & 0o7777).toString(8)]).toEqual([1234, 5678, '1751']);
  });

  it('RT61: a temporary file that a kill left is removed at the next start, and nothing else that a note names', async () => {
    const left = join(folder, '.tendon-0123456789ab.tmp');
    const precious = files.file('precious');
    writeFileSync(left, 'half');
    mkdirSync(files.notes, { recursive: true });
    writeFileSync(join(files.notes, 'one'), left);
    writeFileSync(join(files.notes, 'two'), precious);
    await files.again().write({ path: 'other', content: '' });
    expect(readdirSync(folder)).not.toContain('.tendon-0123456789ab.tmp');
    expect(readFileSync(precious, 'utf8')).toBe('precious');
    expect(readdirSync(files.notes)).toEqual([]);
  });
});
