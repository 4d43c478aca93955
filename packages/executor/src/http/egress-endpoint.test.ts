import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { createEgressEndpoint } from './egress-endpoint.ts';

/** A sandbox that offers its egress, and a host that may take it. */
async function offered(): Promise<{ readonly leave: () => Socket; readonly take: () => Promise<Socket> }> {
  const folder = mkdtempSync(join(tmpdir(), 'tendon-egress-'));
  const socketPath = join(folder, 'made', 'proxy.sock');
  const endpoint = createEgressEndpoint(socketPath);
  const server = createServer().on('upgrade', (incoming, client, head) => endpoint.join(incoming, client, head));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    endpoint.close();
    server.close();
    rmSync(folder, { recursive: true });
  });
  const { port } = server.address() as AddressInfo;
  return {
    leave: () => connect(socketPath).on('error', () => undefined),
    take: () =>
      new Promise((resolve, reject) => {
        request({ port, path: '/egress', headers: { connection: 'Upgrade', upgrade: 'tcp' } })
          .on('upgrade', (_response, socket, head) => {
            socket.unshift(head);
            resolve(socket);
          })
          .on('response', ({ statusCode }) => reject(new Error(`status ${statusCode}`)))
          .on('error', reject)
          .end();
      }),
  };
}

it('SB1010: what leaves the sandbox goes over a connection that the host made before', async () => {
  const { leave, take } = await offered();
  const taking = take();
  const inside = leave();
  const host = await taking;
  inside.write('what leaves');
  expect(String(await once(host, 'data'))).toBe('what leaves');
  host.end('what comes back');
  expect(await text(inside)).toBe('what comes back');
});

it('SB1010: what leaves before the host is there waits for it', async () => {
  const { leave, take } = await offered();
  const first = leave();
  first.end('first');
  await once(first, 'connect');
  expect(await text(await take())).toBe('first');
  const second = leave();
  const taken = take();
  second.end('second');
  expect(await text(await taken)).toBe('second');
});

it('SB1010: a connection of a host that has gone is not given to what leaves', async () => {
  const { leave, take } = await offered();
  const gone = leave();
  const taken = await take();
  taken.destroy();
  await once(gone, 'close');
  const inside = leave();
  inside.end('again');
  expect(await text(await take())).toBe('again');
});

it('SB1010: more connections of the host than can be of use are refused', async () => {
  const { take } = await offered();
  const refusals: string[] = [];
  for (let n = 0; n < 70; n += 1) void take().catch((error: unknown) => refusals.push(String(error)));
  await expect.poll(() => refusals).toHaveLength(6);
  expect([...new Set(refusals)]).toEqual(['Error: status 503']);
});
