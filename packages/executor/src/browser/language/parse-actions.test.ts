import { anyCharacter } from '@tendon/testing';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseActions } from './parse-actions.ts';

const callsOf = (text: string) => {
  const parsed = parseActions(text);
  if (!parsed.ok) throw new Error(parsed.error);
  return parsed.calls.map(({ name, args }) => ({ name, args }));
};
const errorOf = (text: string): string => {
  const parsed = parseActions(text);
  return parsed.ok ? `no error: ${JSON.stringify(parsed.calls)}` : parsed.error;
};
const bid = (id: string) => ({ by: 'bid', bid: id });
const css = (selector: string) => ({ by: 'css', selector });

/** As Python would print it, with a quote that the value decides. */
const literal = (text: string, quote: string): string => {
  const escaped = text.replaceAll('\\', '\\\\').replaceAll(quote[0]!, `\\${quote[0]!}`);
  return quote + (quote.length === 1 ? escaped.replaceAll('\n', '\\n') : escaped) + quote;
};

describe('the action language', () => {
  it('RT140: several calls, one a line or after a semicolon, with comments, fences and lines that go on', () => {
    const text =
      '```python\n# first\ngoto("http://a.test/#x")  # there\n\nclick(\n  "12",  # on two lines\n); noop()\nfill("a3", \\\n "x")\n```\n';
    expect(callsOf(text)).toEqual([
      { name: 'goto', args: { url: 'http://a.test/#x' } },
      { name: 'click', args: { bid: bid('12'), button: 'left', modifiers: [] } },
      { name: 'noop', args: { wait_ms: 1000 } },
      { name: 'fill', args: { bid: bid('a3'), value: 'x', enable_autocomplete_menu: false } },
    ]);
    expect(callsOf('\n  \n# nothing\n')).toEqual([]);
  });

  it.each([
    [String.raw`'it\'s'`, "it's"],
    [String.raw`"a\tb\nc\\d"`, 'a\tb\nc\\d'],
    [String.raw`"\x41\u00e9\U0001F600\101\q"`, 'Aé😀A\\q'],
    [String.raw`r"\d+\n"`, String.raw`\d+\n`],
    ['"""one "two"\nthree"""', 'one "two"\nthree'],
    ["'''x'y''z'''", "x'y''z"],
    ["u'x' \"y\"\t'''z'''", 'xyz'],
    ["'a\\\nb'", 'ab'],
    ["''", ''],
  ])('RT141: the string %s', (source, value) => {
    expect(callsOf(`keyboard_type(${source})`)).toEqual([{ name: 'keyboard_type', args: { text: value } }]);
  });

  it('RT141: numbers, lists, tuples, constants and keyword arguments', () => {
    expect(callsOf('scroll(-1.5e2, +0x1F)')).toEqual([{ name: 'scroll', args: { delta_x: -150, delta_y: 31 } }]);
    expect(callsOf('scroll(delta_y=1_000, delta_x=.5,)')).toEqual([{ name: 'scroll', args: { delta_x: 0.5, delta_y: 1000 } }]);
    expect(callsOf('select_option("4", ["a", "b"])')).toMatchObject([{ args: { options: ['a', 'b'] } }]);
    expect(callsOf('select_option("4", ("a",))')).toMatchObject([{ args: { options: ['a'] } }]);
    expect(callsOf('click("4", modifiers=["Shift"], button="right")')).toMatchObject([{ args: { button: 'right', modifiers: ['Shift'] } }]);
    expect(callsOf('click("4", "left", None)')).toMatchObject([{ args: { modifiers: [] } }]);
    expect(callsOf('fill(12, "x", True)')).toMatchObject([{ args: { bid: bid('12'), enable_autocomplete_menu: true } }]);
  });

  it('RT142: an element is named by its id or a CSS selector, and the older form is taken', () => {
    expect(callsOf("browser.click('#button')")).toMatchObject([{ name: 'click', args: { bid: css('#button') } }]);
    expect(callsOf("browser.click('h1')")).toMatchObject([{ args: { bid: css('h1') } }]);
    expect(callsOf("click('aB12')\nclick('a')\nclick('button')\nclick('div > a')")).toMatchObject([
      { args: { bid: bid('aB12') } },
      { args: { bid: bid('a') } },
      { args: { bid: css('button') } },
      { args: { bid: css('div > a') } },
    ]);
  });

  it.each([
    ['click("1"', 'line 1, column 10: "," or ")" was expected, not the end of the text'],
    ['goto("a")\nclick("1") x', 'line 2, column 12: the end of the line was expected, not "x"'],
    ['goto("a)', 'line 1, column 6: the string that begins here has no end (")'],
    ['goto(f"{x}")', 'line 1, column 6: f-strings are not taken'],
    ['goto(open("/etc/passwd").read())', 'line 1, column 6: a text, a number, a list, True, False or None was expected, not "open"'],
    ['goto("a" + "b")', 'line 1, column 10: "," or ")" was expected, not "+"'],
    ['import os', 'line 1, column 8: "(" after import was expected, not "os"'],
    ['dance()', 'line 1, column 1: there is no action dance; there are goto, '],
    ['os.click("1")', 'there is no action os.click'],
    ['a.b.click("1")', 'a.b.click is not known'],
    ['click()', 'line 1, column 1: click needs bid; it is written click(bid, button="left", modifiers=[])'],
    ['goto("a", "b")', 'line 1, column 11: goto does not take so many arguments; it is written goto(url)'],
    ['goto(link="a")', 'line 1, column 6: goto does not take an argument link'],
    ['click("1", bid="2")', 'line 1, column 12: click is given bid twice'],
    ['click("1", button="up")', 'button of click must be one of left, middle, right'],
    ['scroll("far", 1)', 'delta_x of scroll must be a number'],
    ['toString()', 'there is no action toString'],
    [`select_option("1", ${'['.repeat(40)}`, 'nested too deeply'],
    ['noop()\n'.repeat(51), 'there are 51 actions; 50 at once are taken'],
  ])('RT143: %j is refused with its place', (text, error) => expect(errorOf(text)).toContain(error));

  it('RT143: whatever the text, it is calls or an error that names a place', () => {
    const pieces = fc.constantFrom(
      'click',
      'goto',
      '(',
      ')',
      '[',
      ']',
      '"',
      "'",
      '"""',
      ',',
      '=',
      '\n',
      '\\',
      '#',
      ' ',
      '1',
      '.',
      'r',
      '-',
      'é',
      '\u{1F600}',
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: anyCharacter, maxLength: 80 }),
          fc.array(pieces, { maxLength: 30 }).map((all) => all.join('')),
        ),
        (text) => {
          const parsed = parseActions(text);
          expect(parsed.ok || /^line \d+, column \d+: ./s.test(parsed.error)).toBe(true);
        },
      ),
      { numRuns: 100 },
    );
  });

  it('RT141: every text comes through every way of quoting', () => {
    const quote = fc.constantFrom("'", '"', "'''", '"""');
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, maxLength: 40 }), quote, (text, marks) => {
        expect(callsOf(`keyboard_type(${literal(text, marks)})`)).toEqual([{ name: 'keyboard_type', args: { text } }]);
      }),
      { numRuns: 200 },
    );
  });
});
