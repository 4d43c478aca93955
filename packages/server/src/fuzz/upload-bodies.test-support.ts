/** Bodies of uploads: parts that say anything, and are cut and damaged. */
import { anyCharacter } from '@tendon/testing';
import * as fc from 'fast-check';
import { HOSTILE_TEXTS } from './hostile-values.test-support.ts';

export const BOUNDARY = 'x7';
export const TYPE = `multipart/form-data; boundary=${BOUNDARY}`;

const noise = fc.oneof(fc.constantFrom(...HOSTILE_TEXTS), fc.string({ unit: anyCharacter, maxLength: 60 }));
const name = fc.oneof(noise, fc.constantFrom('a.txt', 'sub/b.txt', '../x', '/etc/x', 'a\\b', 'c"; filename="d', `${'n'.repeat(5000)}`));
const disposition = fc.oneof(
  name.map((text) => `form-data; name="files"; filename="${text}"`),
  name.map((text) => `form-data; name="files"; filename*=UTF-8''${encodeURIComponent(text.toWellFormed())}`),
  noise.map((text) => `form-data; name="${text}"`),
  noise,
);
export const part = fc.record({
  disposition,
  headers: fc.array(noise, { maxLength: 3 }),
  content: fc.oneof(noise, fc.constant(`--${BOUNDARY}`), fc.constant(`\r\n--${BOUNDARY}--\r\n`), fc.constant('x'.repeat(1001))),
});
/** Where it is cut, what is flipped, and how it comes in pieces. */
export const damage = fc.record({ cut: fc.option(fc.nat(4000)), flip: fc.option(fc.nat(4000)), pieces: fc.integer({ min: 1, max: 7 }) });

/** `\r\n` in a text may end a header or the part: that is wanted. */
export function bodyOf(parts: readonly { disposition: string; headers: readonly string[]; content: string }[]): Buffer {
  const texts = parts.map(
    (one) => `--${BOUNDARY}\r\nContent-Disposition: ${one.disposition}\r\n${one.headers.join('\r\n')}\r\n\r\n${one.content}\r\n`,
  );
  return Buffer.from(`${texts.join('')}--${BOUNDARY}--\r\n`, 'latin1');
}

export function damaged(body: Buffer, { cut, flip }: { cut: number | null; flip: number | null }): Buffer {
  const bytes = Buffer.from(cut === null ? body : body.subarray(0, cut));
  if (flip !== null && flip < bytes.length) bytes[flip]! ^= 0x20;
  return bytes;
}
