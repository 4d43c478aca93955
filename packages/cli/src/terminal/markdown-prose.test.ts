import fc from 'fast-check';
import { expect, it } from 'vitest';
import { markdownProse, MarkdownProse } from './markdown-prose.ts';

/** With the styles by their names. */
const named = (text: string) =>
  // oxlint-disable-next-line no-control-regex -- escape codes are what this is about
  markdownProse(text).replaceAll(/\u001b\[(\d+)m/g, (_all, code: string) => NAMES[code] ?? '</>');
const NAMES: Readonly<Record<string, string>> = { 1: '<b>', 2: '<dim>', 3: '<i>', 4: '<u>', 9: '<s>', 36: '<code>' };

it('CK1003: headings, lists, quotes, fences, rules and spans are shown as what they are', () => {
  expect(named('## What **I** did ##')).toBe('<b>What <b>I</><b> did</>');
  expect(named('- **Bold**: x\n  * in `a*b*c`\n3. __three__\n\n---')).toBe(
    `• <b>Bold</>: x\n  • in <code>a*b*c</>\n3. <b>three</>\n\n<dim>${'─'.repeat(20)}</>`,
  );
  expect(named('> done *so*')).toBe('<dim>│</> done <i>so</>');
  expect(named('a\n```ts\nconst a = **1**;\n\n```\nb')).toBe('a\n  <dim>ts</>\n  <code>const a = **1**;</>\n  \nb');
  expect(named('see [the `docs`](https://a.test/b_(c)) and ~~this~~')).toBe(
    'see the <code>docs</> (<u>https://a.test/b_(c)</>) and <s>this</>',
  );
});

it('CK1003: a mark without its end, and one in a word or between blanks, is text', () => {
  for (const text of [
    'snake_case_name and 2 * 3 * 4',
    'a ** b',
    '*open',
    '`open',
    '[x] done',
    'C:\\dir',
    '#tag',
    '-1 is less',
    'a ****',
    '5.5',
  ])
    expect(named(text)).toBe(text);
  expect(named('\\*not\\* italic')).toBe('*not* italic');
});

it('CK1003: pieces of any size give together what the whole gives', () => {
  const part = fc.constantFrom(
    'a',
    'b c',
    ' ',
    '\n',
    '*',
    '**',
    '_',
    '`',
    '```',
    '~~',
    '#',
    '- ',
    '1.',
    '[',
    '](',
    ')',
    '\\',
    '>',
    '|',
    '\n|',
    '|-|',
    '日',
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 40 }), (parts) => {
      const prose = new MarkdownProse();
      const shown = parts.map((each) => prose.write(each)).join('') + prose.end();
      expect(shown).toBe(markdownProse(parts.join('')));
    }),
    { numRuns: 500 },
  );
});

it('CK1044: a table is aligned, fits the columns of the terminal and is wrapped at blanks, its styles with it', () => {
  const text = 'before\n| Name | *Costs* | Why |\n|---|--:|:-:|\n| `a\\|b` | 1 | **two long words** here |\n| 日本 | 12 |\nafter';
  const shown = (columns: number) =>
    // oxlint-disable-next-line no-control-regex -- escape codes are what this is about
    markdownProse(text, () => columns).replaceAll(/\u001b\[\d+m/g, '');
  expect(shown(80)).toBe(
    [
      'before',
      'Name  Costs          Why',
      `${'─'.repeat(4)}  ${'─'.repeat(5)}  ${'─'.repeat(19)}`,
      'a|b       1  two long words here',
      '日本     12',
      'after',
    ].join('\n'),
  );
  expect(shown(25)).toBe(
    [
      'before',
      'Name  Costs      Why',
      `${'─'.repeat(4)}  ${'─'.repeat(5)}  ${'─'.repeat(11)}`,
      'a|b       1   two long',
      '             words here',
      '日本     12',
      'after',
    ].join('\n'),
  );
  for (const columns of [1, 20, 25, 40]) {
    const [, ...lines] = markdownProse(text, () => columns).split('\n');
    for (const line of lines)
      expect(line.split('\u001b[1m').length).toBe(line.split('\u001b[22m').length - (line.includes('\u001b[2m') ? 1 : 0));
  }
  expect(named('| no table\n| at all')).toBe('| no table\n| at all');
  expect(named('| a | b |\n|---|')).toContain('<b>a  b</>');
});

it('CK1003: words are given as they come, and what is held back is bounded', () => {
  const prose = new MarkdownProse();
  expect(['I ', 'run **the', ' tests**', ' now', '.\n'].map((each) => prose.write(each))).toEqual([
    'I ',
    'run ',
    '',
    '\u001b[1mthe tests\u001b[22m now',
    '.\n',
  ]);
  expect(prose.write(`*${'x'.repeat(5_000)}`)).toHaveLength(5_001);
});
