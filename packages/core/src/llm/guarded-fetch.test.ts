import { expect, it } from 'vitest';
import { guardedFetch } from './guarded-fetch.ts';

const endless: typeof fetch = async () =>
  new Response(new ReadableStream({ pull: (controller) => controller.enqueue(new TextEncoder().encode('x'.repeat(100))) }));

it('LM16: a body without an end is cut off', async () => {
  const response = await guardedFetch(endless, 1_000)('http://box/');
  await expect(response.text()).rejects.toThrow('longer than 1000 bytes');
});

it('LM16: everything else of the answer is passed on', async () => {
  const original = new Response('a body', { status: 429, headers: { 'retry-after': '7' } });
  const response = await guardedFetch(async () => original, 6)('http://box/');
  expect([response.status, response.headers.get('retry-after'), await response.text()]).toEqual([429, '7', 'a body']);
});
