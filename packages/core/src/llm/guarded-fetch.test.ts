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

it('LM16: a reader that leaves, and a body that is too long, end the connection of the answer', async () => {
  const ends: unknown[] = [];
  const source: typeof fetch = async () =>
    new Response(
      new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(100)), cancel: (why) => void ends.push(why) }),
    );
  const left = (await guardedFetch(source, 1_000)('http://box/')).body!.getReader();
  await left.read();
  await left.cancel('enough');
  await expect((await guardedFetch(source, 50)('http://box/')).text()).rejects.toThrow('longer than 50 bytes');
  expect(ends).toEqual(['enough', expect.any(Error)]);
});
