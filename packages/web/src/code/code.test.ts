import { assert, constantFrom, property, string } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { highlight } from './highlight.tsx';
import { lineDiff, unifiedDiff } from './line-diff.ts';
import { ansiPieces, withoutAnsi } from './output.tsx';
import { closedBlocks } from './prose.tsx';

const ESC = '\u001b';

describe('code and output', () => {
  it('highlighting changes no letter', () => {
    assert(
      property(string({ unit: 'grapheme' }), constantFrom('a.ts', 'a.py', 'a.sh', 'a.json', 'Makefile'), (line, path) => {
        expect(
          highlight(line, path)
            .map((piece) => piece.text)
            .join(''),
        ).toBe(line);
      }),
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
