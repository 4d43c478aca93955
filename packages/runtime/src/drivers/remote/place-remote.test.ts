import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { EXECUTOR_API } from '../../executor-host-api.ts';
import type { SandboxSpec } from '../driver.ts';
import { createRemoteDriver } from './remote-driver.ts';

const { signal } = new AbortController();
const network = { mode: 'full', allow: [] } as const;

/** A host that starts whatever it is asked for, and never has anything. */
async function emptyHost(): Promise<URL> {
  const capacity = { draining: false, sandboxes: 0, max_sandboxes: 10, memory_bytes: 8e9, free_memory_bytes: 8e9, load: 0 };
  const sandbox = { driver: 'none', strength: 'none', description: 'nothing', limits: [], network: { mode: 'full', is_policed: false } };
  const info = { executor_api: EXECUTOR_API, version: '1', sandbox, capacity };
  const started = { workspace: '/workspace', conversation_id: 'c' };
  const server = createServer(
    (request, response) => void request.resume().once('end', () => response.end(JSON.stringify(request.method === 'PUT' ? started : info))),
  );
  onTestFinished(() => void server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
}

it('SB1060: a placement counts until its own start is over, whatever else starts on that host', async () => {
  const [one, other] = [await emptyHost(), await emptyHost()];
  const driver = createRemoteDriver({ url: one, key: undefined }, { url: other, key: undefined });
  const place = (conversationId: string) => driver.remote!.place!({ conversationId, network, isReadOnly: false, signal });
  const start = (conversationId: string, host: string) =>
    driver.start(
      { conversationId, host, incarnation: 'a'.repeat(16), workspace: '/workspace', network, gitHosts: [] } as unknown as SandboxSpec,
      { signal },
    );
  const first = await place('new');
  await start('of yesterday', first);
  const second = await place('another');
  expect(second).not.toBe(first);
  await start('new', first);
  expect(await place('third')).toBe(first);
});
