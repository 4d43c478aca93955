import type { IncomingMessage } from 'node:http';
import { mkdirSync, readdirSync, realpathSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { openOutputFolder } from '../effects/output-folder.ts';
import { createSandboxFiles } from './sandbox-files.ts';
import { testFiles } from './files.test-support.ts';

const files = testFiles();
const PNG = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');
const latin = (text: string): Buffer => Buffer.from(text, 'latin1');

describe('lines', () => {
  const path = files.file('a\r\nb\nc');

  it.each([
    [{}, 'a\r\nb\nc'],
    [{ start: 0, end: 1 }, 'a\r\n'],
    [{ start: 1 }, 'b\nc'],
    [{ start: 1, end: 2 }, 'b\n'],
    [{ start: 2, end: 99 }, 'c'],
    [{ start: 9, end: -1 }, ''],
    [{ start: 2, end: 1 }, ''],
    [{ start: -5, end: 1 }, 'a\r\n'],
  ])('RT67: %j', async (range, content) => {
    expect(await files.read({ path, ...range })).toEqual({ observation: 'read', content, extras: { path, impl_source: 'default' } });
  });

  it('RT63: with a view_range, numbered', async () => {
    const { content } = await files.read({ path, impl_source: 'oh_aci', view_range: [2, -1] });
    expect(content).toBe(`Here's the result of running \`cat -n\` on ${path}:\n     2\tb\n     3\tc\n`);
  });

  it('RT67: a folder and a missing file are errors', async () => {
    mkdirSync(join(files.folder, 'sub'));
    expect(await files.read({ path: 'sub' })).toMatchObject({ observation: 'error', content: expect.stringContaining('is a folder') });
    expect(await files.read({ path: 'gone' })).toMatchObject({ observation: 'error', content: expect.stringContaining('no file') });
  });
});

describe('images and PDFs', () => {
  it.each([
    ['image/png', PNG],
    ['image/jpeg', latin('\xff\xd8\xff\xe0 jpeg')],
    ['image/gif', latin('GIF89a gif')],
    ['image/webp', latin('RIFF\0\0\0\0WEBPVP8 ')],
    ['image/bmp', Buffer.concat([latin('BM'), Buffer.alloc(12), Buffer.from([40, 0, 0, 0, 1])])],
    ['application/pdf', latin('%PDF-1.7\n')],
  ])('RT69: %s is a data URL, whatever its name, for `read` and for `view`', async (type, bytes) => {
    const path = files.file(bytes);
    const content = `data:${type};base64,${bytes.toString('base64')}`;
    expect(await files.read({ path })).toMatchObject({ observation: 'read', content });
    expect(await files.read({ path, impl_source: 'oh_aci' })).toMatchObject({ observation: 'read', content });
    expect(await files.edit('view', path)).toMatchObject({ observation: 'edit', content });
  });

  it('RT69: SVG is text', async () => {
    expect(await files.read({ path: files.file('<svg/>') })).toMatchObject({ content: '<svg/>' });
  });

  it('RT69: words that begin like a bitmap are text', async () => {
    expect(await files.read({ path: files.file('BMW builds cars, and some bikes.') })).toMatchObject({
      observation: 'read',
      content: /^BMW/,
    });
  });

  it('RT69: one that is too large is refused with its size', async () => {
    const path = files.file(PNG);
    truncateSync(path, 9 * 1024 * 1024);
    expect(await files.read({ path })).toMatchObject({
      observation: 'error',
      content: expect.stringMatching(/PNG image of 9437184 bytes/),
    });
  });
});

describe('what is not shown', () => {
  it.each([
    ['MP4 or QuickTime video', latin('\0\0\0\x18ftypmp42')],
    ['WebM or Matroska video', latin('\x1aE\xdf\xa3')],
    ['WAV audio', latin('RIFF\0\0\0\0WAVEfmt ')],
    ['ELF program', latin('\x7fELF\x02\x01')],
    ['zip archive', latin('PK\x03\x04')],
    ['SQLite database', latin('SQLite format 3\0')],
  ])('RT66: a file of the kind %s is refused by name', async (name, bytes) => {
    const path = files.file(bytes);
    const reason = expect.stringContaining(`it is a binary file (${name})`);
    expect(await files.read({ path })).toMatchObject({ observation: 'error', content: reason });
    expect(await files.edit('str_replace', path, { old_str: 'a', new_str: 'b' })).toMatchObject({ content: reason });
  });

  it('RT66: unknown bytes with a zero among them are binary', async () => {
    expect(await files.read({ path: files.file(latin('a\0b')) })).toMatchObject({
      content: expect.stringMatching(/it is a binary file\.$/),
    });
  });
});

describe('huge files', () => {
  const path = join(files.folder, 'huge.log');
  const line = `${'x'.repeat(99)}\n`;
  writeFileSync(path, line.repeat(400_000)); // 40 MB

  it('RT70: the beginning is shown, and how to see more', async () => {
    expect((await files.edit('view', path)).content).toMatch(/^Here's the result[\s\S]*\[Clipped: .*view_range\.\]\n$/);
    expect((await files.read({ path })).content).toMatch(/\n\[Clipped after 2097152 characters\..*start and end.*\]$/);
  });

  it('RT70: any lines can be seen', async () => {
    expect((await files.edit('view', path, { view_range: [399_999, 400_000] })).content).toContain(`\n399999\t${line}400000\t${line}`);
    expect(await files.read({ path, start: 399_999, end: -1 })).toMatchObject({ content: line });
    expect((await files.edit('view', path, { view_range: [500_000, -1] })).content).toContain('must be from 1 to 400001');
  });

  it('RT70: it is not edited in memory', async () => {
    expect((await files.edit('insert', path, { insert_line: 0, new_str: 'x' })).content).toContain('at most 33554432 can be opened');
  });
});

it('RT830: a stored result is written and viewed by its path in the home, which leads nowhere else; the oldest go', async () => {
  const home = realpathSync(files.folder);
  vi.stubEnv('HOME', home);
  onTestFinished(() => void vi.unstubAllEnvs());
  const output = join(home, '.cache/tendon/output');
  const outputs = openOutputFolder(output, { chars: 30_000, fileBytes: 500, folderBytes: 600 });
  const stored = createSandboxFiles(files.folder, files.disk, outputs.makeRoom);
  for (const name of ['old', 'new', 'newest'])
    await stored.write(`~/.cache/tendon/output/${name}.txt`, new PassThrough().end('x'.repeat(90)) as unknown as IncomingMessage);
  expect(readdirSync(output).toSorted()).toEqual(['new.txt', 'newest.txt']);
  const { content } = await files.read({ path: '~/.cache/tendon/output/new.txt', impl_source: 'oh_aci' });
  expect(content).toContain(`cat -n\` on ${output}/new.txt:\n     1\txxx`);
  for (const path of ['~/.cache/tendon/output/../../secret', '~/secret', '~'])
    expect(await files.read({ path, impl_source: 'oh_aci' })).toMatchObject({ content: expect.stringContaining('is not absolute') });
});
