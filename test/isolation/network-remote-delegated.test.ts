import { ExecutorHostProcess } from '@tendon/testing/servers';
import { expect, it, onTestFinished } from 'vitest';
import { executorFolder, never, run } from '@tendon/runtime/testing';
import { testServer } from '../../packages/server/src/server.test-support.ts';

const NAME = 'listed-later.example';

it('SB651: a sandbox on another host follows the list of the conversation that delegated to its own', async () => {
  executorFolder();
  const host = await ExecutorHostProcess.start();
  onTestFinished(() => host.remove());
  const env = { RUNTIME: 'remote', SANDBOX_REMOTE_RUNTIME_API_URL: host.url.href, SANDBOX_API_KEY: host.key, SANDBOX_NETWORK: 'allowlist' };
  const server = await testServer({ env });
  const { conversations, runtimes } = server.engine;
  const id = await server.create();
  const child = await conversations.createDelegated((await conversations.get(id))!, { actionId: 1, agent: 'CodeActAgent' });
  const runtime = await runtimes.acquire(child.id, { signal: never });
  const ask = async () => (await run(runtime, `curl -sS -m 20 http://${NAME}/`)).output;
  expect(await ask()).toContain('not on the list');
  const headers = { 'content-type': 'application/json' };
  const changed = await fetch(`${server.url}/api/conversations/${id}/network`, {
    method: 'PUT',
    headers,
    body: JSON.stringify({ allow: [NAME] }),
  });
  expect(changed.status).toBe(200);
  expect(await ask()).not.toContain('not on the list');
});
