import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { Secret } from '@tendon/protocol/masking';
import { EXECUTOR_API } from '../../executor-host-api.ts';
import type { Probe } from '../driver.ts';
import { createRemoteDriver } from './remote-driver.ts';

const KEY = 'the key of the host';
const NETWORK = { mode: 'allowlist', is_policed: true };
const SANDBOX = {
  driver: 'local',
  strength: 'os-sandbox',
  description: 'bubblewrap',
  limits: ['no quota'],
  network: NETWORK,
  sleeps: 'ended',
};

async function probe(answer: RequestListener): Promise<Probe> {
  const server = createServer(answer);
  onTestFinished(() => void server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/far/`);
  return createRemoteDriver({ url, key: new Secret(KEY) }).probe();
}

it('SB60: the strength is the one of the host, asked for with the key below its path', async () => {
  const found = await probe((request, response) => {
    const isRight = request.url === '/far/server_info' && request.headers['x-session-api-key'] === KEY;
    response.writeHead(isRight ? 200 : 500).end(JSON.stringify({ executor_api: EXECUTOR_API, version: '1', sandbox: SANDBOX }));
  });
  expect(found).toEqual({
    available: true,
    strength: 'os-sandbox',
    network: { mode: 'allowlist', isPoliced: true },
    description: expect.stringMatching(/^on 127\.0\.0\.1:\d+: bubblewrap$/),
    limits: ['no quota'],
  });
});

it.each([
  ['can mount a workspace read-only', { ...SANDBOX, mounts_read_only: true }, true],
  ['is older than that and does not say so', SANDBOX, false],
])('RT821: a host that %s is known for it', async (_, sandbox, can) => {
  const server = createServer((_request, response) => response.end(JSON.stringify({ executor_api: EXECUTOR_API, version: '1', sandbox })));
  onTestFinished(() => void server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const driver = createRemoteDriver({ url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`), key: undefined });
  expect((await driver.probe()).available).toBe(true);
  expect(driver.mountsReadOnly).toBe(can);
});

it.each<[string, RequestListener, RegExp, RegExp]>([
  ['refuses the key', (_q, r) => r.writeHead(401).end('{"detail":"no"}'), /refuses the key/, /Set SANDBOX_API_KEY/],
  ['is something else', (_q, r) => r.end('<html>hello</html>'), /is not an executor host/, /SANDBOX_REMOTE_RUNTIME_API_URL/],
  ['knows no such route', (_q, r) => r.writeHead(404).end(), /is not an executor host/, /SANDBOX_REMOTE_RUNTIME_API_URL/],
  [
    'is of another version',
    (_q, r) => r.end(JSON.stringify({ executor_api: EXECUTOR_API + 1, version: '9.9', sandbox: SANDBOX })),
    /Tendon 9\.9 and speaks version/,
    /same version/,
  ],
  ['fails', (_q, r) => r.writeHead(500).end('its disk is full'), /its disk is full/, /what it prints/],
])('SB60: a host that %s is named with what to do', async (_what, answer, reason, fix) => {
  expect(await probe(answer)).toEqual({ available: false, reason: expect.stringMatching(reason), fix: expect.stringMatching(fix) });
});

it.each([502, 503, 504])('SB1065: a host that answers %d, as what stands before it does, is away', async (status) => {
  expect(await probe((_q, r) => r.writeHead(status).end('bad gateway'))).toMatchObject({ available: false, isAway: true });
});

it('SB1065: a host that speaks another protocol is not away', async () => {
  const server = createServer((_request, response) => response.end());
  onTestFinished(() => void server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = new URL(`https://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const found = await createRemoteDriver({ url, key: undefined }).probe();
  expect(found).toEqual({ available: false, reason: expect.any(String) as string, fix: expect.any(String) as string });
});

it('SB60: where nothing answers the probe reports which address to correct', async () => {
  const driver = createRemoteDriver({ url: new URL('http://127.0.0.1:9'), key: undefined });
  expect(await driver.probe()).toMatchObject({
    available: false,
    isAway: true,
    reason: expect.stringContaining('127.0.0.1:9 (ECONNREFUSED)'),
  });
});
