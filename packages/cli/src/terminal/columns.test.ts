import { expect, it } from 'vitest';
import { aligned } from './aligned.ts';
import { columnsOf, cutToColumns, wrapToColumns } from './columns.ts';

it('CK1006: widths are counted in columns of the terminal, and no letter is cut in two', () => {
  expect(['abc', '日本', 'e\u0301', '👩‍👧', '❤️', '한', 'ﾊ'].map(columnsOf)).toEqual([3, 4, 1, 2, 2, 2, 1]);
  expect(cutToColumns('日本語', 6)).toBe('日本語');
  expect(cutToColumns('日本語', 5)).toBe('日本…');
  expect(cutToColumns('a👩‍👧b', 3)).toBe('a…');
  expect(aligned([['日本', 'x'], ['abcde', 'y']])).toBe('日本   x\nabcde  y'); // prettier-ignore
});

it('CK1006: a line that does not fit is broken at blanks, and what follows is indented as it is', () => {
  expect(wrapToColumns('one two three\n  four five\nsix', 8)).toBe('one two\nthree\n  four\n  five\nsix');
  expect(wrapToColumns('日本 日本', 6)).toBe('日本\n日本');
  expect(wrapToColumns('https://a.example/x y', 8)).toBe('https://a.example/x\ny');
});
