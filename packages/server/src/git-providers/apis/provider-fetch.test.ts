import { expect, it } from 'vitest';
import { fakeProvider, type FakeAnswer } from './fake-provider.test-support.ts';
import { providerFetch } from './provider-fetch.ts';

const init = { headers: { authorization: 'Bearer x' } };

it.each<[string, FakeAnswer | 'never', object]>([
  ['a server error', { status: 503 }, { code: 'PROVIDER_FAILED', message: 'it answered 503' }],
  ['a refusal', { status: 403 }, { code: 'PROVIDER_REFUSED' }],
  ['a limit', { status: 429, headers: { 'retry-after': '7' } }, { code: 'PROVIDER_LIMIT', retryAfterSeconds: 7 }],
  [
    'a limit of GitHub',
    { status: 403, headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1' } },
    { code: 'PROVIDER_LIMIT', retryAfterSeconds: 1 },
  ],
  ['no such thing', { status: 404 }, { code: 'PROVIDER_NOT_FOUND' }],
  [
    'another server',
    { status: 301, headers: { location: 'http://127.0.0.1:1/' } },
    { code: 'PROVIDER_FAILED', message: 'it sends to another server' },
  ],
  ['circles', { status: 301, headers: { location: '/' } }, { code: 'PROVIDER_FAILED', message: 'it sends in circles' }],
  ['a flood', { body: 'x'.repeat(9 * 1024 * 1024) }, { code: 'PROVIDER_FAILED' }],
  ['silence', 'never', { code: 'PROVIDER_FAILED', message: 'it did not answer within 1 seconds' }],
])('SV104: %s is distinguished from the others', async (_name, answer, failure) => {
  const fake = await fakeProvider('x', {});
  fake.failWith(answer);
  await expect(providerFetch(answer === 'never' ? 1000 : 10_000)(fake.origin, init)).rejects.toMatchObject(failure);
});

it('SV104: a server that is not there is one that failed', async () => {
  await expect(providerFetch(10_000)('http://127.0.0.1:1/')).rejects.toMatchObject({ code: 'PROVIDER_FAILED' });
});
