import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { utf8Length } from './utf8.ts';

it('RT29: characters of output that is left out are counted without decoding it', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), fc.nat(7), (text, from) => {
      const bytes = Buffer.concat([Buffer.alloc(from), Buffer.from(text)]).subarray(from);
      expect(utf8Length(bytes)).toBe(bytes.toString('utf8').length);
    }),
  );
});
