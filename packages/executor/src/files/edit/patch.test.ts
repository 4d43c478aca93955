import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTwoFilesPatch } from 'diff';
import * as fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { itInFull } from '@tendon/testing';
import { patchedPaths, type ObservationDraft } from '@tendon/protocol';
import type { HandlerContext } from '../../action-handler.ts';
import { createEditAction } from './edit-action.ts';
import { parsePatch } from './parse-patch.ts';
import { createUndoHistory, UndoableDisk } from './undoable-disk.ts';

const root = mkdtempSync(join(tmpdir(), 'tendon-patch-'));
afterAll(() => rmSync(root, { recursive: true }));
let folders = 0;

const context: HandlerContext = { signal: new AbortController().signal, output: () => {}, outputPath: () => undefined };

/** A workspace with these files, and the editor on it. */
function workspace(files: Readonly<Record<string, string>>) {
  const folder = join(root, `w${(folders += 1)}`);
  mkdirSync(join(folder, 'locked'), { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const options = { hidden: [], readOnly: [join(folder, 'locked')], notes: join(root, `notes${folders}`) };
  const disk = new UndoableDisk(options, createUndoHistory(join(root, `undo${folders}`)));
  const edit = createEditAction({ workspace: folder, disk, checkSyntax: async () => undefined });
  const act = async (args: Readonly<Record<string, unknown>>) =>
    (await edit({ args: { impl_source: 'oh_aci', ...args } }, context)) as ObservationDraft<'edit'>;
  return {
    folder,
    act,
    patch: (...lines: readonly string[]) => act({ command: 'apply_patch', path: '.', patch: lines.join('\n') }),
    read: (name: string) => (existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'utf8') : undefined),
  };
}

describe('a patch', () => {
  it('RT764: changes, makes, moves and removes files in one step', async () => {
    const { folder, patch, read } = workspace({ 'a.txt': 'one\ntwo\nthree\n', 'b.txt': 'b\n', 'c.txt': 'c\n' });
    chmodSync(join(folder, 'a.txt'), 0o755);
    const { content, extras } = await patch(
      ...['*** Begin Patch', '*** Update File: a.txt', '@@', ' one', '-two', '+2', '+2½', ' three'],
      ...['*** Add File: new/d.txt', '+first', '+', '+last', '*** Update File: b.txt', '*** Move to: moved.txt', '@@', '-b', '+B'],
      ...['*** Delete File: c.txt', '*** End Patch', ''],
    );
    const at = (name: string): string => join(folder, name);
    const list = [`M ${at('a.txt')}`, `A ${at('new/d.txt')}`, `A ${at('moved.txt')}`, `D ${at('b.txt')}`, `D ${at('c.txt')}`];
    expect(content).toBe(`The patch was applied:\n${list.join('\n')}`);
    expect(extras).toMatchObject({ path: at('a.txt'), prev_exist: true, old_content: null, new_content: null });
    for (const words of ['-two\n+2\n+2½\n', '+first\n', '-c\n']) expect(extras.diff).toContain(words);
    expect(['a.txt', 'new/d.txt', 'moved.txt', 'b.txt', 'c.txt'].map(read)).toEqual([
      'one\n2\n2½\nthree\n',
      'first\n\nlast\n',
      'B\n',
      undefined,
      undefined,
    ]);
    expect(statSync(at('a.txt')).mode & 0o777).toBe(0o755);
  });

  it('RT764: of one file has its contents, and undo_edit takes it back', async () => {
    const { folder, patch, act, read } = workspace({ 'a.txt': 'one\n' });
    const { extras } = await patch('*** Update File: a.txt', '-one', '+two');
    expect(extras).toMatchObject({ old_content: 'one\n', new_content: 'two\n', prev_exist: true });
    await act({ command: 'undo_edit', path: join(folder, 'a.txt') });
    expect(read('a.txt')).toBe('one\n');
    await patch('*** Delete File: a.txt');
    await act({ command: 'undo_edit', path: join(folder, 'a.txt') });
    expect(read('a.txt')).toBe('one\n');
  });

  it.each([
    ['blanks that differ', ['*** Update File: f', '@@', '    two  ', '-  three', '+  THREE']],
    ['context without its blank, and an empty line without any', ['*** Update File: f', 'one', '', '-two', '+TWO', ' three']],
    [
      'a fence and a heredoc around it',
      ['```', "apply_patch <<'EOF'", '*** Begin Patch', '*** Update File: f', '-two', '+TWO', 'EOF', '```'],
    ],
    ['a unified diff with wrong line numbers', ['diff --git a/f b/f', '--- a/f', '+++ b/f', '@@ -90,3 +90,3 @@', '-three', '+3']],
    ['an empty line before the next section', ['*** Update File: f', '@@', ' two', '-three', '+3', ' four', '']],
  ])('RT765: %s are forgiven', async (_what, lines) => {
    const { patch, read } = workspace({ f: 'one\n\ntwo\nthree\nfour\n' });
    expect((await patch(...lines)).content).toMatch(/^The patch was applied:/);
    expect(read('f')).not.toBe('one\n\ntwo\nthree\nfour\n');
  });

  it('RT765: @@ leads to one of several places, a diff’s line number to the nearest, and what ends with the file to its end', async () => {
    const text = 'def a:\n  x\ndef b:\n  x\n  y\nx\n';
    const apply = async (...lines: readonly string[]): Promise<string | undefined> => {
      const { patch, read } = workspace({ f: text });
      await patch('*** Update File: f', ...lines);
      return read('f');
    };
    expect(await apply('@@ def b:', '-  x', '+  z')).toBe('def a:\n  x\ndef b:\n  z\n  y\nx\n');
    expect(await apply('@@ -4 +4 @@', '-  x', '+  z')).toBe('def a:\n  x\ndef b:\n  z\n  y\nx\n');
    expect(await apply('@@', '+end', '*** End of File')).toBe(`${text}end\n`);
    expect(await apply('@@ def a:', '+  first')).toBe('def a:\n  first\n  x\ndef b:\n  x\n  y\nx\n');
  });

  it('RT60, RT764: line ends, encoding and a missing last newline stay', async () => {
    const { folder, patch, read } = workspace({ w: 'a\r\nb\r\nc' });
    await patch('*** Update File: w', ' a', '-b', '+B', '+BB', ' c');
    expect(read('w')).toBe('a\r\nB\r\nBB\r\nc');
    await patch('*** Update File: w', '-c', '+C');
    expect(read('w')).toBe('a\r\nB\r\nBB\r\nC');
    writeFileSync(join(folder, 'l'), Buffer.from('gr\xfcn\nalt\n', 'latin1'));
    await patch('*** Update File: l', '-alt', '+neu');
    expect(readFileSync(join(folder, 'l'))).toEqual(Buffer.from('gr\xfcn\nneu\n', 'latin1'));
  });
});

describe('a patch that does not fit', () => {
  it.each([
    [
      'lines that are not there',
      ['*** Update File: f', ' one', '-tvo', '+2'],
      /Hunk 1 of .*f does not fit[^]*The closest lines are 1 to 2/,
    ],
    ['a place that is not the only one', ['*** Update File: f', '-same', '+other'], /fits more than once, at lines 4, 5/],
    ['an anchor that is not there', ['*** Update File: f', '@@ class X', '-two', '+2'], /no line is `class X`/],
    ['a new file that is there', ['*** Add File: f', '+x'], /exists already/],
    ['a file that is not there', ['*** Delete File: none'], /There is no file/],
    ['a read-only one', ['*** Add File: locked/x', '+x'], /is read-only in this sandbox/],
    ['no change', ['*** Update File: f', ' two'], /changes nothing/],
    ['the same file twice', ['*** Delete File: f', '*** Delete File: f'], /is in the patch twice/],
  ])('RT766: %s: nothing is changed, and the reason is given', async (_what, lines, reason) => {
    const { patch, read } = workspace({ f: 'one\ntwo\nthree\nsame\nsame\n', g: 'g\n' });
    const { content, extras } = await patch('*** Update File: g', '-g', '+G', ...lines);
    expect(content).toMatch(/^ERROR:\nThe patch was not applied, to no file\. /);
    expect(content).toMatch(reason);
    expect(extras.diff).toBeNull();
    expect(read('g')).toBe('g\n');
    expect(read('f')).toBe('one\ntwo\nthree\nsame\nsame\n');
  });

  it('RT766: what is no patch is named', async () => {
    expect((await workspace({}).patch('hello')).content).toContain('It holds no section');
  });

  it('RT766: what was written is taken back when a later file cannot be', async () => {
    const { patch, read } = workspace({ a: 'a\n', file: 'x' });
    const { content } = await patch('*** Update File: a', '-a', '+A', '*** Add File: b', '+b', '*** Add File: file/below', '+x');
    expect(content).toMatch(/^ERROR:/);
    expect([read('a'), read('b'), read('file')]).toEqual(['a\n', undefined, 'x']);
  });
});

itInFull('RT764: any change, as a unified diff or in sections, gives exactly the new text', async () => {
  const line = fc.constantFrom('a', 'b', 'c', '  d', '', 'e f', '-', '+', ' @', 'ü');
  const text = fc.array(line, { maxLength: 25 }).map((lines) => lines.map((each, index) => `${index}${each}\n`).join(''));
  const change = text.chain((before) => {
    const lines = before.split('\n').slice(0, -1);
    const chosen = fc.array(fc.tuple(fc.boolean(), fc.option(line, { freq: 4 })), { minLength: lines.length, maxLength: lines.length });
    return chosen.map((all) => ({
      before,
      after: lines
        .flatMap((each, index) => [...(all[index]![0] ? [each] : []), ...(all[index]![1] === null ? [] : [`n${all[index]![1]}`])])
        .map((each) => `${each}\n`)
        .join(''),
    }));
  });
  await fc.assert(
    fc.asyncProperty(change, async ({ before, after }) => {
      fc.pre(before !== after && before !== '' && after !== '');
      const diff = createTwoFilesPatch('a/f', 'b/f', before, after);
      const hunks = diff
        .slice(diff.indexOf('@@'))
        .replaceAll(/^@@ .*$/gm, '@@')
        .split('\n')
        .slice(0, -1);
      for (const lines of [diff.split('\n'), ['*** Begin Patch', '*** Update File: f', ...hunks, '*** End Patch']]) {
        const { patch, read } = workspace({ f: before });
        expect((await patch(...lines)).content).toMatch(/^The patch was applied/);
        expect(read('f')).toBe(after);
      }
    }),
    { numRuns: 60 },
  );
});

it('TR710: rules are asked about every file that a patch changes', () => {
  const path = fc.constantFrom('a', '/etc/x', '../b c', 'a/.git/config', '/dev/null', 'x\u2028y', '');
  const begin = fc.constantFrom(
    '*** Add File: ',
    '*** Update File:',
    '*** Delete File: ',
    '*** Move to: ',
    '--- ',
    '+++ b/',
    '+',
    '-',
    '@@ ',
  );
  const line = fc.tuple(begin, path, fc.constantFrom('', ' ', '\t2026', '\r', '\tx\u2028y')).map((parts) => parts.join(''));
  const mark = fc.constantFrom('*** Begin Patch', '*** End Patch', '', '--- /dev/null', 'diff --git a/x b/x');
  fc.assert(
    fc.property(fc.array(fc.oneof({ weight: 4, arbitrary: line }, mark), { maxLength: 12 }), (lines) => {
      const patch = lines.join('\n');
      // The workspace itself is no file.
      const changed = filesOf(patch).filter((each) => each !== '');
      expect(changed.filter((each) => !patchedPaths(patch).includes(each))).toEqual([]);
    }),
    { numRuns: 2000 },
  );
});

function filesOf(patch: string): readonly string[] {
  try {
    return parsePatch(patch).flatMap((file) => [file.path, ...('movedTo' in file && file.movedTo !== undefined ? [file.movedTo] : [])]);
  } catch {
    return [];
  }
}

describe('several replacements', () => {
  it('RT767: are made one after the other, as one edit', async () => {
    const { folder, act, read } = workspace({ f: 'one two\r\nthree\r\n' });
    const path = join(folder, 'f');
    const edits = [
      { old_str: 'two\nthree', new_str: '2\n3' },
      { old_str: '3', new_str: 'III' },
    ];
    expect((await act({ command: 'multi_edit', path, edits })).extras).toMatchObject({ new_content: 'one 2\r\nIII\r\n' });
    expect(read('f')).toBe('one 2\r\nIII\r\n');
    await act({ command: 'undo_edit', path });
    expect(read('f')).toBe('one two\r\nthree\r\n');
  });

  it('RT767: or none is', async () => {
    const { folder, act, read } = workspace({ f: 'one\ntwo\n' });
    const path = join(folder, 'f');
    const wrong = [{ old_str: 'tvo', new_str: '2' }, { old_str: '', new_str: 'x' }, { old_str: 'one', new_str: 'one' }, 7];
    for (const second of wrong) {
      const { content } = await act({ command: 'multi_edit', path, edits: [{ old_str: 'one', new_str: '1' }, second] });
      expect(content).toMatch(/^ERROR:\nEdit 2 of 2 cannot be made, so none was\. /);
    }
    expect((await act({ command: 'multi_edit', path })).content).toMatch(/needs the parameter edits/);
    expect(read('f')).toBe('one\ntwo\n');
  });
});
