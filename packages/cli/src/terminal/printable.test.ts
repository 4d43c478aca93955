import { expect, it } from 'vitest';
import { printable, spelled, spelledLine } from './printable.ts';

it.each([
  ['plain, ünï 🌍\n\ttext', 'plain, ünï 🌍\n\ttext'],
  ['\u001b[31mred\u001b[0m', 'red'],
  ['\u001b]0;a new title\u0007text', 'text'],
  ['\u001b]52;c;c2VjcmV0\u001b\\text', 'text'],
  ['\u001b]8;;http://example.org\u001b\\link\u001b]8;;\u001b\\', 'link'],
  ['\u009b31mred', 'red'],
  ['\u001bPq payload\u001b\\text', 'text'],
  ['bell\u0007 back\b\u007f', 'bell back'],
  ['50%\r100%\r\n', '50%100%\n'],
  ['\u202egnp.exe', 'gnp.exe'],
  ['cut \u001b]0;never ends', 'cut '],
  ['\u001b', ''],
])('%j is shown as %j', (text, shown) => {
  expect(printable(text)).toBe(shown);
});

it('CL1050: of what is decided about nothing is left out, and what could not be seen is spelled', () => {
  expect(spelled('a\u001b]0; ; rm b\r\n\tünï 🌍')).toBe('a⟨U+001B⟩]0; ; rm b⟨U+000D⟩\n\tünï 🌍');
  expect(spelled('\u009b\u202e\u200b\u2028\u{e0041}\ud800')).toBe('⟨U+009B⟩⟨U+202E⟩⟨U+200B⟩⟨U+2028⟩⟨U+E0041⟩⟨U+D800⟩');
  expect(spelledLine('a\nb')).toBe('a⟨U+000A⟩b');
});
