import { expect, it } from 'vitest';
import { testServer } from '../server.test-support.ts';

const CHOSEN = '0123456789abcdef0123456789abcdef';
const URL = '/api/conversations';

it('SV115: a client chooses the id where it may, and each id is given once', async () => {
  const server = await testServer({ env: { ALLOW_SET_CONVERSATION_ID: '1' } });
  const make = (conversation_id: string) => server.post(URL, { conversation_id });
  const both = await Promise.all([make(CHOSEN), make('01234567-89AB-CDEF-0123-456789ABCDEF')]);
  expect(both.map(({ status }) => status).toSorted()).toEqual([200, 409]);
  const refused = both.find(({ status }) => status === 409)!;
  expect(await refused.json()).toMatchObject({ status: 'error', message: expect.stringContaining(CHOSEN) as string });
  expect(await (await server.get(`${URL}/${CHOSEN}`)).json()).toMatchObject({ conversation_id: CHOSEN });
  expect((await make(CHOSEN)).status).toBe(409);
  await fetch(`${server.url}${URL}/${CHOSEN}`, { method: 'DELETE' });
  expect((await make(CHOSEN)).status).toBe(409);
  expect((await make('../../etc')).status).toBe(422);
  expect((await server.post(URL, { conversation_id: 'f'.repeat(32), directory: '/' })).status).toBe(403);
  expect((await make('f'.repeat(32))).status).toBe(200);
});

it('SV115: by default a chosen id is ignored', async () => {
  const server = await testServer();
  expect(await server.create({ conversation_id: CHOSEN })).toMatch(/^(?!0123456789)[0-9a-f]{32}$/);
});
