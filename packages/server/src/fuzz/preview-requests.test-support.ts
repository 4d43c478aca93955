/** Requests whose Host names a preview, or nearly. */
import * as fc from 'fast-check';
import { upgradeRequest } from './raw-connection.test-support.ts';

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

/** The bytes of one request; the connection closes with its answer. */
export const previewRequest: fc.Arbitrary<Buffer> = fc.record({ host, path, cookie, isUpgrade: fc.boolean() }).map((drawn) => {
  const head = drawn.isUpgrade
    ? upgradeRequest(drawn.path, drawn.cookie)
    : `GET ${drawn.path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${drawn.cookie}\r\n`;
  return Buffer.from(head.replace('Host: localhost', `Host: ${drawn.host}`), 'latin1');
});
