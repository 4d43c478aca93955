import { isAscii } from 'node:buffer';

const HIGHEST_BITS = 0x80808080;

/**
 * How long the string of these bytes of UTF-8 is: every byte that begins a character counts, twice where that takes two places.
 * Four bytes at a time, for it goes over all that is left out of a long output.
 */
export function utf8Length(bytes: Buffer): number {
  if (isAscii(bytes)) return bytes.length;
  const aligned = bytes.byteOffset % 4 === 0 ? bytes : Buffer.from(new Uint8Array(bytes).buffer);
  const words = new Uint32Array(aligned.buffer, aligned.byteOffset, aligned.length >> 2);
  let length = bytes.length;
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at]!;
    const following = word & ~(word << 1) & HIGHEST_BITS; // 10……
    const long = word & (word << 1) & (word << 2) & (word << 3) & HIGHEST_BITS; // 1111……
    length += bits(long) - bits(following);
  }
  for (const byte of bytes.subarray(words.length * 4)) length += byte >= 0xf0 ? 1 : byte >= 0x80 && byte < 0xc0 ? -1 : 0;
  return length;
}

/** How many of the highest bits of four bytes are set. */
function bits(word: number): number {
  return Math.imul(word >>> 7, 0x01010101) >>> 24;
}
