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

/** Where the first character of UTF-8 begins in bytes that were cut anywhere. */
export function characterStart(bytes: Buffer): number {
  let at = 0;
  while (at < Math.min(3, bytes.length) && (bytes[at]! & 0xc0) === 0x80) at += 1;
  return at;
}

/** How many of these bytes of UTF-8 come before a character that is cut at their end; all of them where none is. */
export function wholeCharacters(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back]!;
    if (byte < 0x80) break;
    if (byte < 0xc0) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return needed > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}
