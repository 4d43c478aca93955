import { Secret } from '@tendon/protocol/masking';
import { describe, expect, it } from 'vitest';
import { createPreviewKeys } from './preview-keys.ts';

const HOUR = 3_600_000;
const START = 500 * 12 * HOUR;
const secret = new Secret('a secret of the server');
const at = (ms: number, own = secret) => createPreviewKeys(own, { now: () => new Date(START + ms) });

describe('keys of previews', () => {
  const keys = at(0);
  const place = { port: 5173, label: keys.labelOf('one') };
  const token = keys.tokenFor('one', 5173);

  it('SV60: a label is one part of a name of hosts, alike each time and of one conversation and server', () => {
    expect(place.label).toMatch(/^[0-9a-f]{32}$/);
    expect(at(HOUR).labelOf('one')).toBe(place.label);
    expect(keys.labelOf('two')).not.toBe(place.label);
    expect(at(0, new Secret('a secret of another')).labelOf('one')).not.toBe(place.label);
  });

  it('SV61: a token opens its conversation and port, for 12 to 24 hours', () => {
    expect(keys.read(token, place)).toEqual({ conversationId: 'one', isAging: false });
    expect(at(12 * HOUR - 1).tokenFor('one', 5173)).toBe(token);
    expect(at(24 * HOUR - 1).read(token, place)).toEqual({ conversationId: 'one', isAging: true });
    for (const ms of [24 * HOUR, -1]) expect(at(ms).read(token, place), String(ms)).toBeUndefined();
  });

  const [id, window, seal] = token.split('.') as [string, string, string];
  const FORGED = [
    { says: 'another port', token, place: { ...place, port: 5174 } },
    { says: 'another label', token, place: { ...place, label: keys.labelOf('two') } },
    { says: 'another conversation', token: [Buffer.from('two').toString('base64url'), window, seal].join('.'), place },
    { says: 'a later end', token: [id, Number(window) + 1, seal].join('.'), place },
    { says: 'another server', token: at(0, new Secret('a secret of another')).tokenFor('one', 5173), place },
    { says: 'no token', token: '', place },
    { says: 'endless text', token: `${'a'.repeat(10_000)}.1.${seal}`, place },
  ];
  it.each(FORGED)('SV61: $says is refused', ({ token: forged, place: wanted }) => {
    expect(keys.read(forged, wanted)).toBeUndefined();
  });

  it('SV61: ids of any kind have a token', () => {
    const odd = 'ä '.repeat(33);
    expect(keys.read(keys.tokenFor(odd, 1), { port: 1, label: keys.labelOf(odd) })).toMatchObject({ conversationId: odd });
  });
});
