import { array, assert, constantFrom, property, string } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { highlightDiff, highlightLines } from './highlight.ts';
import { lineDiff, unifiedDiff } from './line-diff.ts';
import { ansiPieces, withoutAnsi } from './output.tsx';
import { closedBlocks } from './prose.tsx';

const ESC = '\u001b';

const highlight = (line: string, path: string) => highlightLines([line], path)[0]!;

describe('code and output', () => {
  it('highlighting changes no letter', () => {
    assert(
      property(
        string({ unit: 'grapheme' }).filter((line) => !line.includes('\n')),
        constantFrom('a.ts', 'a.py', 'a.sh', 'a.json', 'Makefile'),
        (line, path) => {
          expect(
            highlight(line, path)
              .map((piece) => piece.text)
              .join(''),
          ).toBe(line);
        },
      ),
    );
  });

  it('words get their looks', () => {
    const looks = (line: string) => highlight(line, 'a.ts').filter((piece) => piece.look);
    expect(looks('const a = f("x"); // end')).toEqual([
      { text: 'const', look: 'syn-key' },
      { text: 'f', look: 'syn-fn' },
      { text: '"x"', look: 'syn-str' },
      { text: '// end', look: 'syn-com' },
    ]);
  });

  it('only what begins a comment in its language is one', () => {
    const comments = (line: string, path: string) => highlight(line, path).flatMap(({ text, look }) => (look === 'syn-com' ? [text] : []));
    expect(comments('half = (a + b) // 2  # rounds down', 'a.py')).toEqual(['# rounds down']);
    expect(comments('this.#count += 1; // once', 'a.ts')).toEqual(['// once']);
    expect(comments('all: # http://x', '/workspace/Makefile')).toEqual(['# http://x']);
  });

  const PYTHON = ['def rows(table):', '    """Return the rows', '', '    from the table, if any."""', '    return []'];
  const looksOf = (lines: readonly string[], path: string) =>
    highlightLines(lines, path).map((pieces) => [...new Set(pieces.filter(({ text }) => text.trim()).map(({ look }) => look))]);

  it('CL1346: what goes over several lines has one colour in each of them', () => {
    expect(looksOf(PYTHON, 'a.py').slice(1)).toEqual([['syn-str'], [], ['syn-str'], ['syn-key', '']]);
    const comment = ['/* if the', 'return is new', '*/', 'return x'];
    expect(looksOf(comment, 'a.c')).toEqual([['syn-com'], ['syn-com'], ['syn-com'], ['syn-key', '']]);
    expect(looksOf(['`if', 'new ${x}`', 'return x'], 'a.ts')).toEqual([['syn-str'], ['syn-str'], ['syn-key', '']]);
  });

  it('CL1346: what does not end colours its own line alone', () => {
    expect(looksOf(['from the table, if any."""', 'return 1'], 'a.py')[1]).toEqual(['syn-key', 'syn-num']);
    expect(looksOf(['dist/*', 'new'], '.gitignore')[1]).toEqual(['syn-key']);
    expect(looksOf(['it`s', 'return 1'], 'a.ts')[1]).toEqual(['syn-key', 'syn-num']);
  });

  it('CL1346: lines keep their letters, the longest too', () => {
    const signs = string({ unit: constantFrom('a', '"', "'", '`', '/', '*', '#', ' ', '\\') });
    assert(
      property(array(signs), constantFrom('a.ts', 'a.py'), (lines, path) => {
        const all = [...lines, 'x'.repeat(3_000), 'y'];
        expect(highlightLines(all, path).map((pieces) => pieces.map(({ text }) => text).join(''))).toEqual(all);
      }),
    );
  });

  it('CL1346: the two sides of a diff are coloured as texts of their own', () => {
    const { rows } = lineDiff(PYTHON.join('\n'), [PYTHON[0], '    """Return them."""', PYTHON[4]].join('\n'));
    const coloured = highlightDiff(rows, 'a.py');
    expect(rows.map((row) => [row.line, coloured.get(row)?.at(-1)?.look])).toEqual([
      ['same', ''],
      ['removed', 'syn-str'],
      ['removed', undefined],
      ['removed', 'syn-str'],
      ['added', 'syn-str'],
      ['same', ''],
    ]);
  });

  it('the sixteen colours are tokens, every other control sequence is gone', () => {
    expect(ansiPieces(`${ESC}[31mred${ESC}[0m ${ESC}[1mbold${ESC}[22m${ESC}[2K${ESC}]0;title\u0007.`)).toEqual([
      { text: 'red', look: 'tone-bad' },
      { text: ' ', look: '' },
      { text: 'bold', look: 'ansi-bold text-ink' },
      { text: '.', look: '' },
    ]);
    expect(withoutAnsi(`${ESC}[32mok${ESC}[0m`)).toBe('ok');
  });

  it('a diff has numbers, gaps and the words that changed', () => {
    const before = Array.from({ length: 20 }, (_, index) => `line ${index + 1}`).join('\n');
    const diff = lineDiff(before, before.replace('line 10', 'line ten'));
    expect(diff).toMatchObject({ added: 1, removed: 1, isCut: false });
    expect(diff.rows[0]).toEqual({ line: 'gap', count: 6 });
    expect(diff.rows.find((row) => row.line === 'removed')).toMatchObject({ oldNumber: 10, marks: [{ from: 5, to: 7 }] });
    expect(diff.rows.find((row) => row.line === 'added')).toMatchObject({ newNumber: 10, marks: [{ from: 5, to: 8 }] });
  });

  it('a diff that makes no sense is cut, not thrown', () => {
    expect(unifiedDiff('--- a\n+++ b\n@@ -1,5 +1 @@\n')).toMatchObject({ isCut: true });
  });

  it('blocks are closed at empty lines, never inside a fence', () => {
    expect(closedBlocks('one\n\ntwo\n\n```\na\n\nb')).toHaveLength(3);
  });
});
