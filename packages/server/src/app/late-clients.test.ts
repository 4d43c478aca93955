import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { plainClient, testServer } from '../server.test-support.ts';
import { LateClients } from './late-clients.ts';

it('SV1072: what clients send before the server has loaded what serves them is answered like any later request', async () => {
  const server = await testServer();
  const first = Promise.all([server.create(), server.get('/api/conversations'), server.get('/api/no/such/path'), plainClient(server)]);
  const [id, list, missing, client] = await first;
  expect([id.length, list.status, missing.status]).toEqual([32, 200, 404]);
  client.send({ action: 'initialize', args: {} });
  await client.frames.until((frame) => 'token' in frame || 'observation' in frame, 'an answer to initialize');
});

it('SV1072: where it cannot be loaded, requests fail, upgrades end, and probes are answered', async () => {
  const http = createServer((_request, response) => response.end('alive'));
  const failures: unknown[] = [];
  const cause = new Error('a file is missing');
  const clients = new LateClients(http, {
    load: () => Promise.reject(cause),
    isForPreview: ({ headers }) => headers['x-preview'] !== undefined,
    onFailure: (failure) => failures.push(failure),
  });
  await once(http.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void http.close().closeAllConnections());
  const host = `127.0.0.1:${(http.address() as AddressInfo).port}`;
  const status = async (path: string, headers = {}) => (await fetch(`http://${host}${path}`, { headers })).status;
  expect([await status('/'), await status('/ready?of=preview', { 'x-preview': '' }), await status('/alive?now')]).toEqual([500, 500, 200]);
  const socket = new WebSocket(`ws://${host}/ws`);
  socket.on('error', () => undefined);
  await new Promise((resolve) => socket.once('close', resolve));
  expect(failures).toEqual([cause, cause, cause]);
  expect(clients.served).toBeUndefined();
  await clients.close();
});
