import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { testFiles } from '../files.test-support.ts';
import { nearestLines } from './find-text.ts';

const SOURCE = 'def one():\n    return 1\n\n\ndef two():\n\treturn two_of(it)\n\n\ndef three():\n    return 3\n';

it.each([
  ['def two():\n    return two_of(it)\n', 5, 6, 'they differ only in indentation (the file has tabs, old_str spaces)'],
  ['def one():\n  return 1', 1, 2, 'they differ only in indentation'],
  ['def  three( ):\n    return 3', 9, 10, 'they differ only in white space'],
  ['def three():   \n    return 3', 9, 10, 'they differ only in white space at the ends of lines'],
  ['def three():\n    return 4', 9, 10, 'old_str differs first in its line 2: `    return 4`'],
  ['def tree():', 9, 9, 'old_str differs first in its line 1: `def tree():`'],
])('RT71: %j is close to lines %i to %i', (wanted, first, last, difference) => {
  expect(nearestLines(SOURCE, wanted)).toMatchObject({ first, last, difference });
});

it.each(['', ' \n\t', 'nothing of the kind: 漢字 漢字'])('RT71: %j is close to nothing', (wanted) => {
  expect(nearestLines(SOURCE, wanted)).toBeUndefined();
});

it('RT71: for any text and any search, the lines shown are lines of the text', () => {
  const piece = fc
    .array(fc.constantFrom('a', 'ab', ' ', '\t', '\n', '\r\n', 'x = 1', '}'), { maxLength: 40 })
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(piece, piece, (text, wanted) => {
      const nearest = nearestLines(text, wanted);
      const shown = nearest && text.split(/\r?\n/).slice(nearest.first - 1, nearest.last);
      expect(nearest?.lines).toEqual(shown);
    }),
  );
});

it('RT71: a failed str_replace shows them with their numbers', async () => {
  const files = testFiles();
  const path = files.file(SOURCE);
  const { content } = await files.edit('str_replace', path, { old_str: 'def two():\n    return two_of(it)', new_str: 'x' });
  expect(content).toBe(
    `ERROR:\nNothing was replaced: ${path} does not contain old_str \`def two():\n    return two_of(it)\`.\n` +
      'The closest lines are 5 to 6; they differ only in indentation (the file has tabs, old_str spaces).\n' +
      '     5\tdef two():\n     6\t\treturn two_of(it)',
  );
});
