import type { IncomingMessage } from 'node:http';
import fc from 'fast-check';
import { Secret } from '@tendon/protocol/masking';
import { runs } from '@tendon/testing';
import { expect, it } from 'vitest';
import { HOP_HEADER, HopSignature } from './hop-signature.ts';

const SIGNATURE = new HopSignature(new Secret('the secret of this cluster'));
const NOW = 1_800_000_000_000;
const HOP = { from: 'server ~1;', client: '2001:db8::1%eth0', conversation: 'ä c;1' };

function request(header: string | readonly string[], rest: Partial<IncomingMessage> = {}): IncomingMessage {
  const headers = { host: 'localhost:3000', origin: 'http://localhost', [HOP_HEADER]: header, ...rest.headers };
  const rawHeaders = ['Host', 'localhost:3000', 'X-Tendon-Hop', String(header), 'Accept', '*/*'];
  return { method: 'GET', url: '/api/conversations/c1?x=1', ...rest, headers, rawHeaders } as IncomingMessage;
}

const SIGNED = SIGNATURE.sign(request(''), HOP, NOW);

it('SV1205: what a server signed is read by another with the same secret, within half a minute', () => {
  expect(SIGNATURE.take(request(SIGNED), NOW)).toEqual(HOP);
  expect(SIGNATURE.take(request(SIGNED), NOW + 29_000)).toEqual(HOP);
  expect(SIGNATURE.take(request(SIGNED), NOW - 29_000)).toEqual(HOP);
  expect(SIGNATURE.take(request(SIGNED), NOW + 31_000)).toBeUndefined();
  expect(SIGNATURE.take(request(SIGNED), NOW - 31_000)).toBeUndefined();
  expect(new HopSignature(new Secret('the secret of another')).take(request(SIGNED), NOW)).toBeUndefined();
});

it('SV1205: it counts for the request that it was made for, and for no other', () => {
  expect(SIGNATURE.take(request(SIGNED, { method: 'DELETE' }), NOW)).toBeUndefined();
  expect(SIGNATURE.take(request(SIGNED, { url: '/api/conversations/c2?x=1' }), NOW)).toBeUndefined();
  expect(SIGNATURE.take(request(SIGNED, { headers: { host: 'evil.example' } }), NOW)).toBeUndefined();
  expect(SIGNATURE.take(request(SIGNED, { headers: { origin: 'http://evil.example' } }), NOW)).toBeUndefined();
  expect(SIGNATURE.take(request([SIGNED, SIGNED]), NOW)).toBeUndefined();
});

it('SV1205: no change of it is taken, nothing that comes in its place throws, and it is removed either way', () => {
  const changed = fc
    .tuple(fc.nat(SIGNED.length - 1), fc.constantFrom(...'aB0;~%-_ 1é\0'))
    .map(([at, char]) => SIGNED.slice(0, at) + char + SIGNED.slice(at + 1))
    .filter((text) => text !== SIGNED);
  const parts = SIGNED.split(';');
  const rearranged = fc
    .shuffledSubarray(parts)
    .map((some) => some.join(';'))
    .filter((text) => text !== SIGNED);
  const anything = fc.oneof(
    changed,
    rearranged,
    fc.string({ maxLength: 2_000 }),
    fc.constant(`${SIGNED};`),
    fc.constant('1;0;a;b;c;'.padEnd(60, 'x')),
  );
  fc.assert(
    fc.property(anything, (header) => {
      const given = request(header);
      const taken = SIGNATURE.take(given, NOW);
      // The last character of 43 has two bits that say nothing.
      const isSame = header.slice(0, -1) === SIGNED.slice(0, -1);
      expect(taken === undefined || isSame).toBe(true);
      expect(given.headers[HOP_HEADER]).toBeUndefined();
      expect(given.rawHeaders).toEqual(['Host', 'localhost:3000', 'Accept', '*/*']);
    }),
    { numRuns: runs(300) },
  );
});
