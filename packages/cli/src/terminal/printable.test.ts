import { expect, it } from 'vitest';
import { printable } from './printable.ts';

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
