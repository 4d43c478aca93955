import { expect, it } from 'vitest';
import { nulFields } from './nul-fields.ts';

it('SV901: so many fields are taken apart and no more, and none that was cut', () => {
  expect(nulFields('a\0\0b\0cut', 3)).toEqual({ fields: ['a', '', 'b'], isCut: false });
  expect(nulFields('a\0\0b\0', 2)).toEqual({ fields: ['a', ''], isCut: true });
  expect(nulFields('cut', 2)).toEqual({ fields: [], isCut: false });
  expect(nulFields('x\0'.repeat(1_000_000), 50_000)).toMatchObject({ fields: { length: 50_000 }, isCut: true });
});
