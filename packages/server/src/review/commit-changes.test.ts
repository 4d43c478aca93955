import { expect, it } from 'vitest';
import { listedChanges } from './commit-changes.ts';

const text = (...fields: readonly string[]): string => fields.map((field) => `${field}\0`).join('');
const raw = (status: string): string => `:100644 100644 1111111 2222222 ${status}`;

it('SV950: what git prints of changed and new files is one list, with lines where they are counted', () => {
  const printed = text(
    ...['.', raw('M'), 'b', raw('D'), 'a\tb', raw('M'), 'picture', '2\t1\tb', '0\t3\ta\tb', '-\t-\tpicture', '7\t0\tnew', ''],
    ...['new', 'nested/', ''],
    ...['inner/', raw('U'), 'c', '', 'd', ''],
  );
  expect(listedChanges(printed)).toEqual({
    count: 6,
    files: [
      { path: 'a\tb', status: 'D', added: 0, removed: 3 },
      { path: 'b', status: 'M', added: 2, removed: 1 },
      { path: 'inner/c', status: 'U', added: null, removed: null },
      { path: 'inner/d', status: 'A', added: null, removed: null },
      { path: 'new', status: 'A', added: 7, removed: 0 },
      { path: 'picture', status: 'M', added: null, removed: null },
    ],
  });
});

it('SV950: whatever is printed, a bounded number of files is listed and nothing throws', () => {
  for (const printed of ['', '\0', 'x', ':\0', text('.', ':', '', ''), text('.', '1\t', ':x'), text('.', '99999999999\t1\tb', '')])
    expect(listedChanges(printed).count).toBeLessThan(3);
  const many = text('.', ...Array.from({ length: 40_000 }, (_, index) => [raw('M'), `f${index}`]).flat());
  expect(listedChanges(many).files).toHaveLength(1000);
});
