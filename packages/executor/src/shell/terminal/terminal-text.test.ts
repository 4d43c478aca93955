import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TerminalText } from './terminal-text.ts';

function shown(pieces: readonly (string | Buffer)[], maxChars?: number): string {
  // The line that says what was left out fits beside the text.
  const terminal = new TerminalText(maxChars && maxChars + 500);
  for (const piece of pieces) terminal.write(piece);
  return terminal.take();
}

/** Cuts a text at random places, in the middle of characters too. */
const cut = (text: string): fc.Arbitrary<Buffer[]> => {
  const bytes = Buffer.from(text);
  return fc.array(fc.nat(bytes.length), { maxLength: 8 }).map((places) => {
    const at = [0, ...places.toSorted((a, b) => a - b), bytes.length];
    return at.slice(1).map((end, index) => bytes.subarray(at[index], end));
  });
};

const token = fc.constantFrom(
  '\u001b[31m',
  '\u001b[0m',
  '\u001b]0;title\u0007',
  '\u001b]8;;x\u001b\\',
  '\u001b[2K',
  '\u001b[3D',
  '\u001b(B',
  '\r',
  '\n',
  '\r\n',
  '\b',
  '\u0000',
  'é',
  '漢',
  '🙂',
  'plain ',
  'x',
);

describe('terminal text', () => {
  it('RT30: a cursor that is sent away for ever stays on the screen', () => {
    const line = shown(Array.from({ length: 2000 }, () => '\u001b[1000C'.repeat(1000)).concat('end'));
    expect(line.trim()).toBe('end');
    expect(line.length).toBeLessThan(2000);
  });

  it.each([
    ['\u001b[1;31mred\u001b[m', 'red'],
    ['\u001b]0;a title\u0007text\u001b]8;;http://x\u001b\\link\u001b]8;;\u001b\\', 'textlink'],
    ['10%\r100%', '100%'],
    ['100%\r10%', '10%%'],
    ['long line\r\u001b[Kx', 'x'],
    ['a\r\nb\r\n', 'a\nb\n'],
    ['abc\b\bX', 'aXc'],
    ['abc\u001b[2DX', 'aXc'],
    ['ab\u0000\u0007\u0001c', 'abc'],
    ['a\u001b[5Gb', 'a   b'],
    ['\u001b(B\u001b=\u001b7text', 'text'],
    ['\u001b', ''],
  ])('RT22: %j reads %j', (raw, expected) => {
    expect(shown([raw])).toBe(expected);
  });

  it('RT30: however the output is split, the text is the same', () => {
    const cases = fc
      .array(token, { maxLength: 40 })
      .chain((tokens) => fc.record({ whole: fc.constant(tokens.join('')), pieces: cut(tokens.join('')) }));
    fc.assert(fc.property(cases, ({ whole, pieces }) => void expect(shown(pieces)).toBe(shown([whole]))));
  });

  it('RT22: no escape character is left of well-formed output', () => {
    fc.assert(fc.property(fc.array(token), (tokens) => void expect(shown(tokens)).not.toContain('\u001b')));
  });

  it('RT29: text of any length is bounded and keeps both ends', () => {
    const sizes = fc.record({ length: fc.nat(5000), piece: fc.integer({ min: 1, max: 700 }) });
    fc.assert(
      fc.property(sizes, ({ length, piece }) => {
        const whole = Array.from({ length }, (_, index) => String.fromCharCode(97 + (index % 26))).join('');
        const pieces = whole.match(new RegExp(`.{1,${piece}}`, 'g')) ?? [];
        const text = shown(pieces, 1000);
        const left = `\n[... Observation truncated due to length: ${length - 1000} characters left out ...]\n`;
        expect(text).toBe(length <= 1000 ? whole : whole.slice(0, 500) + left + whole.slice(-500));
      }),
    );
  });

  it('RT29: of a flood both ends are as they were, and every character between them is counted', () => {
    const line = 'zeile äöü 漢字 🙂\n';
    const bytes = Buffer.from(line.repeat(40_000));
    // No piece ends where a line does, so characters are cut in all places.
    const pieces = Array.from({ length: Math.ceil(bytes.length / 4093) }, (_, n) => bytes.subarray(n * 4093, (n + 1) * 4093));
    const [, head, left, tail] = /^([^]*)\n\[\.\.\. .*: (\d+) characters left out \.\.\.\]\n([^]*)$/.exec(shown(pieces, 1000)) ?? [];
    expect([head, tail]).toEqual([line.repeat(40).slice(0, 500), line.repeat(40).slice(-500)]);
    expect(Number(left)).toBe(line.length * 40_000 - 1000);
  });

  it('RT29: a flood of escape sequences, or of bytes that are no text, ends with what follows it', () => {
    let state = 1;
    const noise = Buffer.from(Array.from({ length: 600_000 }, () => (state = (state * 48_271) % 2_147_483_647) & 0xff));
    const progress = Array.from({ length: 30_000 }, (_, n) => `\u001b[2Aone ${n}\ntwo ${n}\n`).join('');
    expect(shown(['begin\n', noise, '\u001bc', 'end\n'])).toMatch(/end\n$/);
    expect(shown(['begin\n', 'x\n'.repeat(30_000), progress])).toMatch(
      /\nx\none 29999\ntwo 29999\n$|left out \.\.\.\]\n(?:two \d+\n)?one 29999\ntwo 29999\n$/,
    );
  });

  it.each([1, 3, 500_000])('RT38: a program that takes the screen in a flood is shown as its screen is, in pieces of %i bytes', (size) => {
    const drawn = `\u001b[?1049h\u001b[H${'redrawn '.repeat(40_000)}\u001b[2J\u001b[3;5Hdrawn once`;
    const bytes = Buffer.from('x\n'.repeat(20_000) + drawn);
    const pieces = [bytes.subarray(0, 40_000)];
    for (let at = 40_000; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size));
    const terminal = new TerminalText();
    for (const piece of pieces) terminal.write(piece);
    expect(terminal.isFullScreen).toBe(true);
    expect(terminal.take()).toMatch(/x\n+ +drawn once\n?$/);
  });

  it('RT29: what was taken is not given again', () => {
    const terminal = new TerminalText();
    terminal.write('one\ntw');
    expect(terminal.take()).toBe('one\ntw');
    terminal.write('o\n');
    expect(terminal.take()).toBe('o\n');
  });
});
