import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { fuzzTarget } from './fuzz-target.test-support.ts';
import { SEED } from './hostile-values.test-support.ts';
import { rawConnection, upgradeRequest } from './raw-connection.test-support.ts';

const label = fc.oneof(
  fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 32, maxLength: 32 }),
  fc.string({ maxLength: 40 }),
);
const place = fc.tuple(fc.oneof(fc.integer({ min: -1, max: 70_000 }), fc.constantFrom('', '00080', '8080.0')), label);
const host = fc
  .tuple(place, fc.constantFrom('.localhost', '.LOCALHOST', '.localhost:3000', '.localhost.', 'localhost', '.x.localhost'))
  .map(([[port, name], domain]) => `${port}-${name}${domain}`.replace(/[\r\n]/g, ''));
const path = fc.constantFrom(
  '/',
  '/api/conversations',
  '/alive',
  '/ws',
  '/socket.io/?EIO=4&transport=polling',
  '/.tendon/preview/x/',
  '/.tendon/preview/..%2f',
);
const cookie = fc.oneof(
  fc.constant(''),
  fc.string({ maxLength: 60 }).map((text) => `Cookie: ${text.replace(/[\r\n]/g, '')}\r\n`),
);

it('SV96: below the name of previews nothing of the server is reached, whatever Host, path and cookie say', async () => {
  const target = await fuzzTarget();
  const property = fc.asyncProperty(fc.record({ host, path, cookie, isUpgrade: fc.boolean() }), async (drawn) => {
    const head = drawn.isUpgrade
      ? upgradeRequest(drawn.path, drawn.cookie)
      : `GET ${drawn.path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${drawn.cookie}\r\n`;
    const raw = rawConnection(target.url);
    raw.write(Buffer.from(head.replace('Host: localhost', `Host: ${drawn.host}`), 'latin1'));
    const answer = await raw.closed;
    expect(answer).toMatch(/^HTTP\/1\.1 4\d\d /);
    expect(answer).not.toMatch(/"results"|"status":"ok"|"sid"|x-session|set-cookie/i);
  });
  await fc.assert(property, { numRuns: 200, seed: SEED, endOnFailure: true });
  await target.expectUnharmed();
}, 300_000);
