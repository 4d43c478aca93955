import { expect, it } from 'vitest';
import { temporaryFolder, testServer } from '../server.test-support.ts';

it('SV2: bound to all addresses it has a key, prints it, and still has it after a restart', async () => {
  const home = temporaryFolder();
  const first = await testServer({ home, env: { HOST: '0.0.0.0' } });
  const key = /^key +(\S+) /m.exec(first.banner)?.[1];
  expect(key?.length).toBeGreaterThanOrEqual(43);
  const { port } = new URL(first.url);
  const ask = (headers: Record<string, string>) => fetch(`http://127.0.0.1:${port}/api/conversations`, { headers });
  expect((await ask({})).status).toBe(401);
  expect((await ask({ 'x-session-api-key': key! })).status).toBe(200);
  await first.close();
  const second = await testServer({ home, env: { HOST: '0.0.0.0' } });
  expect(second.banner).toContain(key!);
});

it('SV2: on a loopback address it has none, and a given key is not printed', async () => {
  expect((await testServer()).banner).not.toMatch(/^key/m);
  const server = await testServer({ sessionApiKey: 'given-by-the-user', env: { HOST: '0.0.0.0' } });
  expect(server.banner).not.toContain('given-by-the-user');
});

it('SV18: closing twice is closing once', async () => {
  const server = await testServer();
  await Promise.all([server.close(), server.close()]);
  await expect(server.get('/alive')).rejects.toThrow('fetch failed');
});
