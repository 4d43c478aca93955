import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { itInFull } from '@tendon/testing';
import type { ObservationDraft } from '@tendon/protocol';
import type { HandlerContext } from '../../action-handler.ts';
import { createEditAction } from './edit-action.ts';
import { createReadAction } from '../read-action.ts';
import { createUndoHistory, UndoableDisk } from './undoable-disk.ts';
import { createWriteAction } from '../write-action.ts';

const folder = mkdtempSync(join(tmpdir(), 'tendon-edit-'));
afterAll(() => rmSync(folder, { recursive: true }));

const REVIEW = 'Review the changes and make sure they are as expected. Edit the file again if necessary.';

const context: HandlerContext = { signal: new AbortController().signal, output: () => {}, outputPath: () => undefined };
const openDisk = () =>
  new UndoableDisk({ hidden: [join(folder, 'own')], notes: join(folder, '.writing') }, createUndoHistory(join(folder, '.undo')));
const disk = openDisk();
const checkSyntax = async (): Promise<undefined> => undefined;
const handlers = {
  edit: createEditAction({ workspace: folder, disk, checkSyntax }),
  read: createReadAction(folder, disk, async () => ''),
  write: createWriteAction(folder, disk),
};
let files = 0;

function file(content: string | Uint8Array): string {
  const path = join(folder, `file-${(files += 1)}.txt`);
  writeFileSync(path, content);
  return path;
}
async function edit(command: string, path: string, args: Record<string, unknown> = {}): Promise<ObservationDraft<'edit'>> {
  return (await handlers.edit({ args: { command, path, impl_source: 'oh_aci', ...args } }, context)) as ObservationDraft<'edit'>;
}

describe('str_replace', () => {
  it('RT62, RT65: replaces the one match and shows four lines around it', async () => {
    const path = file(Array.from({ length: 20 }, (_, index) => `line ${index + 1}\n`).join(''));
    const { content, extras } = await edit('str_replace', path, { old_str: 'line 10\n', new_str: 'ten\nten and a half\n' });
    expect(content).toBe(
      `The file ${path} has been edited. Here's the result of running \`cat -n\` on a snippet of ${path}:\n` +
        [6, 7, 8, 9].map((line) => `     ${line}\tline ${line}\n`).join('') +
        '    10\tten\n    11\tten and a half\n    12\tline 11\n    13\tline 12\n    14\tline 13\n    15\tline 14\n    16\tline 15\n' +
        REVIEW,
    );
    expect(extras).toMatchObject({
      prev_exist: true,
      old_content: expect.stringContaining('line 10'),
      new_content: expect.stringContaining('ten and'),
    });
    expect(extras.diff).toContain('-line 10\n+ten\n+ten and a half\n');
  });

  it('RT65: an edit has the contents before and after and the whole diff', async () => {
    const path = file('a\nb\n');
    const { content, extras } = await edit('str_replace', path, { old_str: 'b', new_str: 'c' });
    expect(content).toBe(
      `The file ${path} has been edited. Here's the result of running \`cat -n\` on a snippet of ${path}:\n     1\ta\n     2\tc\n     3\t\n${REVIEW}`,
    );
    expect(extras).toMatchObject({
      ...{ path, prev_exist: true, old_content: 'a\nb\n', new_content: 'a\nc\n', impl_source: 'oh_aci' },
      diff: `--- ${path}\n+++ ${path}\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n`,
    });
  });

  it.each([
    ['none', 'missing', /^Nothing was replaced: \S+ does not contain old_str `missing`\./],
    [
      'several',
      'same',
      /^Nothing was replaced: old_str `same` stands more than once in \S+, at lines 1, 3\. Take in lines around it until it stands once\.$/,
    ],
    ['an empty text', '', /^Nothing was replaced: old_str is empty\.$/],
  ])('RT62: %s is an error and changes nothing', async (_, old, message) => {
    const path = file('same\nother\nsame\n');
    const { content, extras } = await edit('str_replace', path, { old_str: old, new_str: 'new' });
    expect(content).toMatch(/^ERROR:\n/);
    expect(content.slice('ERROR:\n'.length)).toMatch(message);
    expect(extras).toMatchObject({ old_content: null, new_content: null, diff: null });
    expect(readFileSync(path, 'utf8')).toBe('same\nother\nsame\n');
  });

  it('RT60, RT62: line ends of the file stay, and a search forgives them', async () => {
    const path = file('a\r\nb\r\nc\r\n');
    await edit('str_replace', path, { old_str: 'a\nb', new_str: 'x\ny\nz' });
    expect(readFileSync(path, 'utf8')).toBe('x\r\ny\r\nz\r\nc\r\n');
  });

  it('RT62: white space around the text is forgiven when the rest is unique', async () => {
    const path = file('  indented\nrest\n');
    await edit('str_replace', path, { old_str: '\n  indented\n\n', new_str: 'new' });
    expect(readFileSync(path, 'utf8')).toBe('  new\nrest\n');
  });

  it.each([
    ['UTF-8 with a byte-order mark', Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from('häuser und x\n')])],
    ['UTF-16 LE', Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('häuser und x\n', 'utf16le')])],
    ['Latin-1', Buffer.from('häuser und x und größe\n', 'latin1')],
    ['bytes of no encoding', Buffer.from([0xff, 0xfe, 0xfd, 0x20, 0x78, 0x20, 0x80, 0x81, 0x0a].slice(2))],
  ])('RT60: %s', async (_, bytes) => {
    const path = file(bytes);
    const { content } = await edit('str_replace', path, { old_str: 'x', new_str: 'yy' });
    expect(content).not.toContain('ERROR');
    const wide = bytes[0] === 0xff && bytes[1] === 0xfe;
    const at = wide ? bytes.indexOf(Buffer.from('x', 'utf16le')) : bytes.indexOf('x');
    const [before, after] = [bytes.subarray(0, at), bytes.subarray(at + (wide ? 2 : 1))];
    expect(readFileSync(path)).toEqual(Buffer.concat([before, Buffer.from('yy', wide ? 'utf16le' : 'utf8'), after]));
  });

  it('RT60: what is put into a file is in its encoding', async () => {
    const path = file(Buffer.from('café und straße, häuser und grüße\n', 'latin1'));
    await edit('str_replace', path, { old_str: 'häuser und', new_str: 'höfe' });
    expect(readFileSync(path, 'latin1')).toBe('café und straße, höfe grüße\n');
  });

  it('RT60: text that the encoding cannot hold is refused', async () => {
    const bytes = Buffer.from('Grüße aus der Straße, schöne Häuser\n', 'latin1');
    const path = file(bytes);
    expect((await edit('str_replace', path, { old_str: 'aus', new_str: '漢字' })).content).toMatch(/^ERROR:\n.*cannot be written/);
    expect(readFileSync(path)).toEqual(bytes);
  });

  it('RT60, RT61: mode and links stay, and no other file is left', async () => {
    const inner = join(folder, 'inner');
    mkdirSync(inner);
    const path = join(inner, 'script.sh');
    writeFileSync(path, 'echo a\n');
    chmodSync(path, 0o754);
    symlinkSync(path, join(inner, 'link'));
    const failure = await edit('str_replace', join(inner, 'link'), { old_str: 'none', new_str: 'x' });
    expect(failure.content).toMatch(/^ERROR:\nNothing was replaced/);
    await edit('str_replace', join(inner, 'link'), { old_str: 'a\n', new_str: 'b\n' });
    expect(readlinkSync(join(inner, 'link'))).toBe(path);
    expect(readFileSync(path, 'utf8')).toBe('echo b\n');
    expect(statSync(path).mode & 0o777).toBe(0o754);
    expect(readdirSync(inner).toSorted()).toEqual(['link', 'script.sh']);
  });
});

describe('create, insert, view, undo_edit', () => {
  it('RT65: create makes folders and refuses what exists', async () => {
    const path = join(folder, 'new/deep/file.txt');
    expect(await edit('create', path, { file_text: 'hi' })).toMatchObject({
      content: `File created successfully at: ${path}`,
      extras: { prev_exist: false, old_content: null, new_content: 'hi' },
    });
    expect((await edit('create', path, { file_text: 'other' })).content).toBe(
      `ERROR:\n${path} exists already. create makes new files only; str_replace and insert change this one.`,
    );
    expect(readFileSync(path, 'utf8')).toBe('hi');
  });

  it.each([
    [0, 'new\na\nb\n'],
    [1, 'a\nnew\nb\n'],
    [2, 'a\nb\nnew\n'],
  ])('RT60: insert after line %i', async (line, expected) => {
    const path = file('a\nb\n');
    await edit('insert', path, { insert_line: line, new_str: 'new' });
    expect(readFileSync(path, 'utf8')).toBe(expected);
  });

  it('RT60: insert at the end of a file without a final newline', async () => {
    const path = file('a\nb');
    await edit('insert', path, { insert_line: 2, new_str: 'c' });
    expect(readFileSync(path, 'utf8')).toBe('a\nb\nc');
    expect((await edit('insert', path, { insert_line: 9, new_str: 'c' })).content).toBe(
      'ERROR:\ninsert_line is 9; it must be from 0 to 3.',
    );
  });

  it('RT63: view numbers, clips and bounds', async () => {
    const path = file('a\nb\n');
    expect((await edit('view', path)).content).toBe(
      `Here's the result of running \`cat -n\` on ${path}:\n     1\ta\n     2\tb\n     3\t\n`,
    );
    expect((await edit('view', path, { view_range: [2, 2] })).content).toBe(
      `Here's the result of running \`cat -n\` on ${path}:\n     2\tb\n`,
    );
    const outside = 'ERROR:\nview_range [9, -1]: the first line must be from 1 to 3.';
    expect((await edit('view', path, { view_range: [9, -1] })).content).toBe(outside);
    expect((await edit('view', path, { view_range: [0, 2] })).content).toContain('from 1 to 3');
    expect((await edit('view', path, { view_range: [2, 1] })).content).toBe(
      'ERROR:\nview_range [2, 1]: the last line is before the first.',
    );
    expect((await edit('view', path, { view_range: [1, 99] })).content).toMatch(/^\[The file ends at line 3\.\]\n/);
    const long = (await edit('view', file('x'.repeat(20_000)))).content;
    expect(long).toMatch(/x\[Clipped: the file goes on\. Find the lines that matter with `grep -n` and view them with view_range\.\]\n$/);
    expect(long.length).toBeLessThan(16_600);
  });

  it('RT63: a name with a line end in it is one line of the list', async () => {
    const path = join(folder, 'odd-names');
    mkdirSync(join(path, 'two\nlines'), { recursive: true });
    writeFileSync(join(path, 'two\nlines', 'ü'), '');
    const { content } = await edit('view', path);
    expect(content.split('\n').slice(1)).toEqual([`${path}/`, `${path}/two\\nlines/`, `${path}/two\\nlines/ü`]);
  });

  it('RT63: view of a folder', async () => {
    const inner = join(folder, 'tree');
    mkdirSync(join(inner, 'b/c/d'), { recursive: true });
    for (const name of ['a.txt', '.hidden', 'b/z.txt', 'b/c/deep.txt']) writeFileSync(join(inner, name), '');
    const { content } = await edit('view', inner);
    expect(content.split('\n')).toEqual([
      `Here's the files and directories up to 2 levels deep in ${inner}, excluding hidden items:`,
      ...[`${inner}/`, `${inner}/a.txt`, `${inner}/b/`, `${inner}/b/c/`, `${inner}/b/z.txt`, ''],
      `1 hidden files/directories in this directory are excluded. ls -la ${inner} shows them.`,
    ]);
    expect((await edit('view', inner, { view_range: [1, 2] })).content).toBe(
      'ERROR:\nThe `view_range` parameter is not allowed when `path` points to a directory.',
    );
  });

  it('RT64: undo goes back step by step, survives a new editor, and ends', async () => {
    const path = join(folder, 'undone.txt');
    await edit('create', path, { file_text: 'one' });
    await edit('str_replace', path, { old_str: 'one', new_str: 'two' });
    await edit('insert', path, { insert_line: 0, new_str: 'zero' });
    const later = createEditAction({ workspace: folder, disk: openDisk(), checkSyntax });
    const back = async (): Promise<string> => (await later({ args: { command: 'undo_edit', path } }, context)).content;
    const undone = `The last edit of ${path} was undone.`;
    expect(await back()).toBe(`${undone} Here's the result of running \`cat -n\` on ${path}:\n     1\ttwo\n`);
    expect(readFileSync(path, 'utf8')).toBe('two');
    await back();
    expect(readFileSync(path, 'utf8')).toBe('one');
    expect(await back()).toBe(`${undone} The file did not exist before it and was removed.`);
    expect(await back()).toBe(`ERROR:\nThere is no edit of ${path} to undo.`);
  });

  it.each([
    ['a missing parameter', { command: 'str_replace' }, 'str_replace needs the parameter old_str.'],
    ['an unknown command', { command: 'dance' }, 'There is no command dance'],
    [
      'a relative path',
      { command: 'view', path: 'tree' },
      `The path tree is not absolute: it must begin with /. Maybe you meant ${join(folder, 'tree')}?`,
    ],
    ['a missing file', { command: 'view', path: '/does/not/exist' }, 'There is no file or folder /does/not/exist.'],
    [
      'a folder',
      { command: 'insert', path: folder, insert_line: 0, new_str: '' },
      `${folder} is a folder, and only view works on folders.`,
    ],
  ])('RT65: %s is named', async (_, args, message) => {
    const { content, extras } = await edit(args.command, file('text'), args);
    expect(content).toMatch(/^ERROR:\n/);
    expect(content).toContain(message);
    expect(extras).toMatchObject({ old_content: null, new_content: null, diff: null });
  });

  it('RT65: write puts a whole file there, and undo_edit what was before', async () => {
    const path = file('old');
    const { content, extras } = await edit('write', path, { file_text: 'new' });
    expect(content).toBe(`File written successfully at: ${path}`);
    expect(extras).toMatchObject({ prev_exist: true, old_content: 'old', new_content: 'new' });
    await edit('undo_edit', path);
    expect(readFileSync(path, 'utf8')).toBe('old');
  });

  it('RT61, RT66: an edit after which the file would be binary is not made', async () => {
    const path = file('text');
    expect((await edit('insert', path, { insert_line: 0, new_str: 'a\0b' })).content).toMatch(/^ERROR:\n.*binary/);
    expect(readFileSync(path, 'utf8')).toBe('text');
  });

  it('RT220: what something else has changed since its last edit is not undone with it', async () => {
    const path = file('one\n');
    await edit('str_replace', path, { old_str: 'one', new_str: 'two' });
    appendFileSync(path, 'three\n');
    expect((await edit('undo_edit', path)).content).toBe(
      `ERROR:\nSomething else has changed ${path} since its last edit here, and undo_edit would take that back too. Nothing was undone: view the file and edit it as it is now.`,
    );
    expect(readFileSync(path, 'utf8')).toBe('two\nthree\n');
    writeFileSync(path, 'two\n');
    expect((await edit('undo_edit', path)).content).toMatch(/^The last edit of \S+ was undone\./);
    expect(readFileSync(path, 'utf8')).toBe('one\n');
    rmSync(path);
    expect((await edit('undo_edit', path)).content).toBe(`ERROR:\nThere is no edit of ${path} to undo.`);
  });

  it('RT220: what was removed since its last edit is put back', async () => {
    const path = file('one');
    await edit('str_replace', path, { old_str: 'one', new_str: 'two' });
    rmSync(path);
    expect((await edit('undo_edit', path)).content).toContain('was undone');
    expect(readFileSync(path, 'utf8')).toBe('one');
  });

  it('RT64: an edit that failed is not one to undo', async () => {
    const path = join(folder, 'none/of/it');
    writeFileSync(join(folder, 'none'), '');
    expect((await edit('create', path, { file_text: 'x' })).content).toMatch(/^ERROR:/);
    rmSync(join(folder, 'none'));
    expect((await edit('undo_edit', path)).content).toMatch(/There is no edit of/);
  });
});

describe('what is no file', () => {
  it('RT66: pipes and devices are refused at once by every action', async () => {
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    for (const path of [pipe, '/dev/zero']) {
      const { content } = await edit('view', path);
      expect(content).toContain('it is not a regular file');
      expect(await handlers.read({ args: { path } }, context)).toMatchObject({ observation: 'error' });
      expect(await handlers.write({ args: { path, content: 'x' } }, context)).toMatchObject({ observation: 'error' });
    }
  });
});

describe('read and write', () => {
  it('RT67: relative paths are meant from the workspace, lines count from 0', async () => {
    expect(await handlers.write({ args: { path: 'w/x.txt', content: 'a\nb\nc\n' } }, context)).toMatchObject({
      observation: 'write',
      content: '',
    });
    expect(await handlers.read({ args: { path: 'w/x.txt' } }, context)).toMatchObject({ content: 'a\nb\nc\n' });
    expect(await handlers.read({ args: { path: 'w/x.txt', start: 1, end: 2 } }, context)).toMatchObject({ content: 'b\n' });
    await handlers.write({ args: { path: 'w/x.txt', content: 'B\nB', start: 1, end: 2 } }, context);
    expect(readFileSync(join(folder, 'w/x.txt'), 'utf8')).toBe('a\nB\nB\nc\n');
    expect(await handlers.read({ args: { path: 'w/none' } }, context)).toMatchObject({ observation: 'error' });
    expect(await handlers.write({ args: { path: 'w', content: '' } }, context)).toMatchObject({ observation: 'error' });
  });
});

describe('any file, any edit', () => {
  const text = fc
    .array(fc.constantFrom('a', 'b', 'x y', 'é', '漢', '🙂', '\n', '\r\n', '\t', '  '), { maxLength: 30 })
    .map((parts) => parts.join(''));

  it('RT60, RT64: bytes outside the change stay, and undo restores exactly', async () => {
    const cases = fc.record({ before: text, after: text, replacement: text, bom: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(cases, async ({ before, after, replacement, bom }) => {
        const wanted = 'UNIQUE';
        const head = Buffer.concat([Buffer.from(bom ? [0xef, 0xbb, 0xbf] : []), Buffer.from(before)]);
        const bytes = Buffer.concat([head, Buffer.from(wanted), Buffer.from(after)]);
        const path = file(bytes);
        await edit('str_replace', path, { old_str: wanted, new_str: replacement });
        const now = readFileSync(path);
        expect(now.subarray(0, head.length)).toEqual(head);
        expect(now.subarray(now.length - Buffer.byteLength(after))).toEqual(Buffer.from(after));
        const middle = now.subarray(head.length, now.length - Buffer.byteLength(after)).toString('utf8');
        expect(middle.replaceAll('\r\n', '\n')).toBe(replacement.replaceAll('\r\n', '\n'));
        await edit('undo_edit', path);
        expect(readFileSync(path)).toEqual(bytes);
      }),
      { numRuns: 60 },
    );
  });

  itInFull('RT60, RT61: any bytes: an edit changes what it names or nothing', async () => {
    const cases = fc.record({ bytes: fc.uint8Array({ maxLength: 60 }), tail: fc.uint8Array({ maxLength: 60 }) });
    await fc.assert(
      fc.asyncProperty(cases, async ({ bytes, tail }) => {
        const whole = Buffer.concat([bytes, Buffer.from('UNIQUE'), tail]);
        const path = file(whole);
        const { content } = await edit('str_replace', path, { old_str: 'UNIQUE', new_str: 'new' });
        const expected = content.startsWith('ERROR') ? whole : Buffer.concat([bytes, Buffer.from('new'), tail]);
        expect(readFileSync(path)).toEqual(expected);
      }),
      { numRuns: 60 },
    );
  });
});
