import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { createMask, SECRET_HIDDEN } from './secret-mask.ts';
import { Secret } from './secret.ts';

/** Many cases: the default of a quick test leaves them no room on a busy machine. */
const wrap = (text: string, width: number) => text.replace(new RegExp(`.{${width}}`, 'g'), '$&\n');

/** What commands print when they are asked for a variable. `pad` stands before it in the same encoding. */
const ENCODINGS: Readonly<Record<string, (value: string, pad: string) => string>> = {
  plain: (value) => value,
  json: (value) => JSON.stringify(value),
  'json in json': (value) => JSON.stringify(JSON.stringify(value)),
  base64: (value, pad) => Buffer.from(`${pad}${value}${pad}`).toString('base64'),
  'base64 in lines': (value, pad) => wrap(Buffer.from(pad + value).toString('base64'), 76),
  base64url: (value, pad) => Buffer.from(pad + value).toString('base64url'),
  'set -x': (value) => `'${value.replaceAll("'", `'\\''`)}'`,
  html: (value) => value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;'),
  hex: (value) => Buffer.from(value).toString('hex'),
  'hex in lines': (value) => wrap(Buffer.from(value).toString('hex').toUpperCase(), 60),
  encodeURIComponent: (value) => encodeURIComponent(value),
  'a form': (value) => new URLSearchParams({ v: value }).toString().slice(2),
};

const value = fc.oneof(
  fc.string({ minLength: 8, maxLength: 120, unit: 'binary-ascii' }),
  fc.string({ minLength: 8, maxLength: 60, unit: 'grapheme' }),
  fc.stringMatching(/^[A-Za-z0-9+/=_-]{12,200}$/),
);
const encoding = fc.constantFrom(...Object.keys(ENCODINGS));
const pad = fc.constantFrom('', 'x', 'xy');

/** Every eight characters in a row. */
function piecesOf(text: string): readonly string[] {
  return Array.from({ length: Math.max(0, text.length - 7) }, (_, at) => text.slice(at, at + 8));
}

it('SB80: of no encoding of a secret do eight characters in a row get out, wherever the stream is cut', () => {
  fc.assert(
    fc.property(value, encoding, pad, fc.array(fc.nat(40), { maxLength: 30 }), (secret, name, before, cuts) => {
      fc.pre(new Set(secret).size > 3); // else pieces of it are in any text
      const mask = createMask([new Secret(secret)]);
      const encoded = ENCODINGS[name]!(secret, before);
      const text = `| ${encoded} |`;
      const stream = mask.stream();
      let shown = '';
      let at = 0;
      for (const cut of cuts) {
        shown += stream.push(text.slice(at, at + cut));
        at += cut;
      }
      shown += stream.push(text.slice(at)) + stream.flush();
      expect(shown).toBe(mask.text(text));
      const left = shown.replaceAll(/\s/g, '').replaceAll(SECRET_HIDDEN, '\uFFFF');
      for (const piece of piecesOf(ENCODINGS[name]!(secret, '').replaceAll(/\s/g, ''))) {
        expect(left.includes(piece), `${JSON.stringify(piece)} of ${name}`).toBe(false);
      }
    }),
    { numRuns: 1500 },
  );
});

it('SB81: many long secrets cost no more than one, and text without secrets stays the same object', () => {
  const keys = Array.from({ length: 40 }, (_, at) => new Secret(`-----BEGIN KEY-----\n${String(at).padStart(4, 'k').repeat(600)}`));
  const mask = createMask(keys);
  const text = 'nothing to see here, only words and numbers 1234567890\n'.repeat(2000);
  expect(mask.text(text)).toBe(text);
  expect(mask.text(`${text}${Buffer.from(keys[7]!.reveal()).toString('base64')}${text}`).length).toBeLessThan(2 * text.length + 40);
});
