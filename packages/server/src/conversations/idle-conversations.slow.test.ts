import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { heapBytes } from '../collect-garbage.test-support.ts';
import { socketIoClient, testServer, type TestServer } from '../server.test-support.ts';

const CONVERSATIONS = 50;
const MIB = 1024 * 1024;

/** Made, looked at by two clients, and its panels opened, as frontends do. */
async function lookedAt(server: TestServer): Promise<string> {
  const id = await server.create();
  for (const latest_event_id of [-1, 1]) {
    const client = await socketIoClient(server, { conversation_id: id, latest_event_id });
    await client.frames.untilState('awaiting_user_input');
  }
  for (const panel of ['list-files', 'git/changes', 'web-hosts', 'events', 'trajectory', '']) {
    expect((await server.get(`/api/conversations/${id}/${panel}`)).status).toBe(200);
  }
  return id;
}

it('SV120: conversations that are only looked at start no sandbox, are ready all the same, and hold less than a MiB each', async () => {
  const server = await testServer();
  await lookedAt(server);
  const before = heapBytes();
  const ids = [];
  for (let index = 0; index < CONVERSATIONS; index++) ids.push(await lookedAt(server));
  // The 100 clients are of this process and counted too.
  expect((heapBytes() - before) / CONVERSATIONS).toBeLessThan(MIB);
  expect(await (await server.get('/api/sandboxes')).json()).toEqual({ sandboxes: [] });
  expect(existsSync(join(server.home, 'sandboxes'))).toBe(false);
  const info = await (await server.get(`/api/conversations/${ids.at(-1)}`)).json();
  expect(info).toMatchObject({ status: 'RUNNING', runtime_status: 'STATUS$READY', agent_state: 'awaiting_user_input' });
});
