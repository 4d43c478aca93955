import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { findServer } from '../platform/server-address.ts';
import { testServer } from '../server.test-support.ts';

it('SV993: a server that is not to come back is found by nobody before its sandboxes end, and leaves none', async () => {
  const server = await testServer({ env: { RUNTIME: 'local' } });
  const { home, engine } = server;
  const id = await server.create();
  await server.post(`/api/conversations/${id}/save-file`, { filePath: 'a.txt', content: 'a' });
  const found = () => findServer({ home, sessionApiKey: undefined });
  expect([await found(), engine.runtimes.current(id)]).not.toContain(undefined);
  const closing = server.close({ stopSandboxes: true });
  while (engine.runtimes.current(id) !== undefined) await setImmediate();
  expect(await found()).toBeUndefined();
  await closing;
  const next = await testServer({ home, env: { RUNTIME: 'local' } });
  expect((await next.engine.runtimes.reconcile()).kept).toBe(0);
});
