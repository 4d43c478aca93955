import { integer } from 'fast-check';

const SURROGATES = { first: 0xd8_00, count: 0x8_00 };
const LAST = 0x10_ff_ff;

/**
 * Every character of Unicode, as `unit` of fast-check's `string`. Its own `binary` makes a table of all million of them in each worker, a
 * second and 100 MB, by which every later collection and every later child process costs more.
 */
export const anyCharacter = integer({ min: 0, max: LAST - SURROGATES.count }).map(
  (index) => String.fromCodePoint(index < SURROGATES.first ? index : index + SURROGATES.count),
  (text) => {
    const code = typeof text === 'string' ? text.codePointAt(0) : undefined;
    if (code === undefined || String.fromCodePoint(code) !== text) throw new Error('not one character');
    const isSurrogate = code >= SURROGATES.first && code < SURROGATES.first + SURROGATES.count;
    if (isSurrogate) throw new Error('half a character');
    return code < SURROGATES.first ? code : code - SURROGATES.count;
  },
);
