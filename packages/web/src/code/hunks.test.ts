import { expect, it } from 'vitest';
import { hunksOf, pairLines } from './hunks.ts';
import { lineDiff } from './line-diff.ts';

const numbered = (change: (lines: string[]) => void): string => {
  const lines = Array.from({ length: 30 }, (_, index) => `line ${index + 1}`);
  change(lines);
  return `${lines.join('\n')}\n`;
};
const before = numbered(() => {});

it('CL952: hunks name their lines in both texts, so that each can go back alone', () => {
  const after = numbered((lines) => {
    lines.splice(24, 1);
    lines.splice(9, 0, 'inserted');
    lines[1] = 'changed';
  });
  const hunks = hunksOf(lineDiff(before, after));
  expect(hunks.map(({ old, new: now, skipped }) => [old, now, skipped])).toEqual([
    [{ start: 1, count: 5 }, { start: 1, count: 5 }, 0],
    [{ start: 7, count: 6 }, { start: 7, count: 7 }, 1],
    [{ start: 22, count: 7 }, { start: 23, count: 6 }, 9],
  ]);
  expect(hunksOf(lineDiff('', 'a\nb\n')).map(({ old, new: now }) => [old, now])).toEqual([
    [
      { start: 1, count: 0 },
      { start: 1, count: 2 },
    ],
  ]);
  expect(hunksOf(lineDiff('a\n', '')).map(({ old, new: now }) => [old, now])).toEqual([
    [
      { start: 1, count: 1 },
      { start: 1, count: 0 },
    ],
  ]);
});

it('CL952: side by side, what was removed stands beside what came in its place', () => {
  const [hunk] = hunksOf(lineDiff('a\nb\nc\n', 'a\nx\ny\nc\n'));
  expect(pairLines(hunk!.lines).map(([old, now]) => [old?.text, now?.text])).toEqual([
    ['a', 'a'],
    ['b', 'x'],
    [undefined, 'y'],
    ['c', 'c'],
  ]);
});
