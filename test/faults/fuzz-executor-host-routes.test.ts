import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { allHostRoutes, KEY, testHost } from '../../packages/sandbox-host/src/host.test-support.ts';
import { hostileText, hostileValue, SEED } from '../../packages/server/src/fuzz/hostile-values.test-support.ts';

const RUNS = 6;
const HONEST = new Set([501, 502, 503, 504]);

const attack = fc.record({
  params: fc.array(hostileText, { minLength: 3, maxLength: 3 }),
  query: fc.dictionary(fc.oneof(fc.constantFrom('path', 'destination', 'recursive'), hostileText), hostileText, { maxKeys: 3 }),
  json: fc.oneof(
    hostileValue,
    fc.dictionary(fc.constantFrom('path', 'action', 'args', 'conversation_id', 'workspace', 'session_id'), hostileValue, { maxKeys: 4 }),
  ),
  key: fc.constantFrom(KEY, KEY, KEY, 'another', ''),
});

it('SV97: whatever an executor host is sent, it answers below 500 or says what is missing, and without the key nothing', async () => {
  const host = await testHost();
  const encoded = (text: string) => encodeURIComponent(text.toWellFormed().slice(0, 2_000));
  for (const { method, url } of await allHostRoutes()) {
    if (method === 'HEAD' || method === 'OPTIONS') continue;
    const property = fc.asyncProperty(attack, async ({ params, query, json, key }) => {
      let next = 0;
      const path = url.replace(/:\w+|\*/g, () => encoded(params[next++ % params.length]!));
      const search = Object.entries(query).map(([name, value]) => `${encoded(name)}=${encoded(value)}`);
      const body = method === 'GET' ? {} : { json };
      const { status } = await host.call(method, `${path}?${search.join('&')}`, { ...body, headers: { 'x-session-api-key': key } });
      expect(status < 500 || HONEST.has(status), `${method} ${path} ${status}`).toBe(true);
      // With parameters the path may have become another one, and a public one too.
      const isRefused = key !== KEY && url !== '/alive' && !url.includes(':');
      expect([method, url, status]).toEqual([method, url, isRefused ? 401 : status]);
    });
    await fc.assert(property, { numRuns: RUNS, seed: SEED, endOnFailure: true });
  }
  expect((await host.call('GET', '/alive')).status).toBe(200);
  expect(Object.keys(Object.prototype)).toEqual([]);
}, 300_000);
