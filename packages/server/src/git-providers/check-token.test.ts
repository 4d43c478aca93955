import { Secret } from '@tendon/protocol/masking';
import { expect, it } from 'vitest';
import { checkToken } from './check-token.ts';
import { fakeProvider, type FakeAnswer } from './apis/fake-provider.test-support.ts';

const TOKEN = 'glpat-0123456789';
const check = (origin: string, token = TOKEN) => checkToken('gitlab', new Secret(token), origin);

it('SV25: a provider that knows the token has it stored, one that does not has not', async () => {
  const fake = await fakeProvider(TOKEN, { 'GET /api/v4/user': () => ({ body: { id: 1 } }) });
  expect(await check(fake.origin)).toEqual({ state: 'taken' });
  expect(await check(fake.origin, 'another-token')).toEqual({ state: 'refused' });
});

it.each<[FakeAnswer, string]>([
  [{ status: 403 }, 'refused'],
  [{ status: 403, headers: { 'x-ratelimit-remaining': '0' } }, 'unreachable'],
  [{ status: 403, headers: { 'retry-after': '60' } }, 'unreachable'],
  [{ status: 429 }, 'unreachable'],
  [{ status: 301, headers: { location: 'https://another.example/' } }, 'unreachable'],
  [{ status: 404 }, 'unreachable'],
  [{ status: 500 }, 'unreachable'],
])('SV25: %j says whether it was the token', async (answer, state) => {
  const fake = await fakeProvider(TOKEN, {});
  fake.failWith(answer);
  expect(await check(fake.origin)).toMatchObject({ state });
});
