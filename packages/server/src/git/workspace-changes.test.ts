import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { changesIn } from './workspace-changes.ts';

it('SV29: what git printed is sorted, nested folders are put before their paths, conflicts win', () => {
  const printed = ['.', 'U', 'both', 'M', 'both', 'T', 'link', '', 'new', 'inner/', '', 'inner/', 'D', 'gone', '', '', ''].join('\0');
  expect(changesIn(printed)).toEqual([
    { status: 'U', path: 'both' },
    { status: 'D', path: 'inner/gone' },
    { status: 'M', path: 'link' },
    { status: 'A', path: 'new' },
  ]);
});

it('SV901: of millions of fields the first 50,000 are looked at', () => {
  const many = ['.', ...Array.from({ length: 2_000_000 }, () => ['M', 'again']).flat(), 'M', 'late', '', ''].join('\0');
  expect(changesIn(many)).toEqual([{ status: 'M', path: 'again' }]);
});

it('SV29: whatever was printed gives a list', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom('', '.', 'A', 'M', 'D', 'U', 'R100', 'a/', 'path', '__proto__')), (fields) => {
      for (const { status, path } of changesIn(`${fields.join('\0')}\0`)) {
        expect('AMDU').toContain(status);
        expect(typeof path).toBe('string');
      }
    }),
  );
});
