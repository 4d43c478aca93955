import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TerminalText } from './terminal-text.ts';

const shown = (...pieces: readonly string[]): string => {
  const terminal = new TerminalText();
  for (const piece of pieces) terminal.write(piece);
  return terminal.take();
};
const FULL = '\u001b[?1049h';
const BACK = '\u001b[?1049l';

describe('screen', () => {
  it.each([
    ['progress in several lines', 'a 1\r\nb 1\r\n\u001b[2Aa 2\r\nb 2\r\ndone\r\n', 'a 2\nb 2\ndone\n'],
    ['lines before it', 'first\n10%\n\u001b[A\u001b[K20%\nlast', 'first\n20%\nlast'],
    ['a cleared screen', 'gone\n\u001b[H\u001b[2Jleft\n', 'left\n'],
    ['a reset', 'gone\u001bcleft', 'left'],
    ['addressed text', '\u001b[2;3Hhere\u001b[1;1Htop', 'top\n  here'],
    ['inserted and deleted characters', '\u001b[Habcdef\u001b[1;2H\u001b[2P\u001b[@-', 'a-def'],
    ['inserted and deleted lines', '\u001b[Ha\r\nb\r\nc\u001b[2;1H\u001b[Lnew\u001b[1;1H\u001b[M', 'new\nb\nc'],
    ['a part that scrolls', '\u001b[Htop\u001b[2;3r\u001b[2;1Ha\r\nb\r\nc\u001b[r\u001b[5;1Hend', 'top\nb\nc\n\nend'],
    ['erased ends', '\u001b[Habcdef\u001b[4D\u001b[K\r\n123456\u001b[3D\u001b[1K', 'ab\n    56'],
    ['saved places', '\u001b[Hab\u001b7\u001b[5;5H\u001b8c', 'abc'],
    ['wide characters', '\u001b[H漢字x\u001b[1;5Hy', '漢字y'],
    ['accents that are characters of their own', '\u001b[He\u0301te\u0301\u001b[1;4H!', 'e\u0301te\u0301!'],
    ['emoji of several characters', '\u001b[H👩\u200d🔧x\u001b[1;6H|', '👩\u200d🔧x|'],
    ['more accents than a character can have', `\u001b[Ha${'\u0301'.repeat(100)}\u001b[1;2H!`, `a${'\u0301'.repeat(15)}!`],
    ['a far right end', `\u001b[Hleft\u001b[1;990Hright`, 'left    right'],
    ['repeated characters', '\u001b[H-\u001b[4b', '-----'],
  ])('RT38: %s', (_name, written, text) => {
    expect(shown(written)).toBe(text);
  });

  it('RT38: a program with the screen to itself shows all of it whenever it has changed, and nothing when it has gone', () => {
    const terminal = new TerminalText();
    terminal.write(`$ editor\r\n${FULL}\u001b[2J\u001b[1;1Hone\r\n\u001b[2;1Htwo`);
    expect(terminal.take()).toBe('$ editor\none\ntwo');
    expect(terminal.isFullScreen).toBe(true);
    expect(terminal.take()).toBe('');
    terminal.write('\u001b[1;1HONE');
    expect(terminal.take()).toBe('ONE\ntwo');
    terminal.write(`${BACK}after\r\n`);
    expect(terminal.isFullScreen).toBe(false);
    expect(terminal.take()).toBe('after\n');
  });

  it('RT38: on a screen of its own a line end is a step down and no more', () => {
    expect(shown(`${FULL}\u001b[Hab\ncd`)).toBe('ab\n  cd');
  });

  it('RT38: what was taken is not given again, and what scrolls away is not lost', () => {
    const terminal = new TerminalText();
    terminal.write('\u001b[Hfirst\r\n');
    expect(terminal.take()).toBe('first\n');
    const lines = Array.from({ length: 80 }, (_, index) => `line ${index}\r\n`).join('');
    terminal.write(lines);
    expect(terminal.take()).toBe(lines.replaceAll('\r', ''));
  });

  it('RT38: after a screenful of ordinary lines output is ordinary again', () => {
    const lines = Array.from({ length: 5000 }, (_, index) => `${index}\n`);
    expect(shown('a\nb\n\u001b[Ac\n', ...lines)).toMatch(/^a\nc\n0\n1\n2\n[^]*\n4999\n$/);
  });

  it('RT30, RT38: whatever a program sends, in whatever pieces, the screen stays in its bounds', () => {
    const number = fc.integer({ min: 0, max: 2000 });
    const token = fc.oneof(
      fc.tuple(number, number, fc.constantFrom(...'ABCDEFGHJKLMPSTXbdfrsu@')).map(([a, b, kind]) => `\u001b[${a};${b}${kind}`),
      fc.constantFrom(
        '\n',
        '\r\n',
        '\t',
        '\b',
        'x',
        '漢',
        '🙂',
        '\u0301',
        'words of text',
        FULL,
        BACK,
        '\u001bM',
        '\u001b7',
        '\u001b8',
        '\u001bc',
      ),
    );
    fc.assert(
      fc.property(fc.array(token, { maxLength: 200 }), (tokens) => {
        const text = shown(...tokens);
        expect(text).toBe(shown(tokens.join('')));
        expect(text).not.toContain('\u001b');
        expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(2000);
      }),
      { numRuns: 50 },
    );
  });
});
