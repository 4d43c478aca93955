import { expect, it } from 'vitest';
import { itInFull } from '@tendon/testing';
import { makePlace, startTendon, tendon } from './tendon-child.test-support.ts';

itInFull('serves on a free port until it is asked to stop', async () => {
  const place = makePlace();
  const server = startTendon(place, ['serve', '--port', '0', '--workspace', place.workspace]);
  await server.until('workspace');
  const url = /http:\/\/\S+/.exec(server.stdout)?.[0] ?? '';
  const response = await fetch(`${url}/alive`);
  expect(response.status).toBe(200);
  await response.text();
  expect(server.stdout).toContain(place.workspace);
  server.signal('SIGTERM');
  expect(await server.ended).toBe(0);
});

/** Says when the part of the heap for new objects has become small again, and at the end whether TLS was loaded. */
const REPORT = `data:text/javascript,${encodeURIComponent(`
  import { getHeapSpaceStatistics } from 'node:v8';
  const loaded = process.moduleLoadList;
  let most = 0;
  setInterval(() => {
    const { space_size: bytes } = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space');
    most = Math.max(most, bytes);
    if (bytes < most / 2) console.log('gave back');
  }, 10).unref();
  process.once('SIGTERM', () => console.log('tls: ' + loaded.includes('NativeModule tls')));
`)}`;

it('SV1070, SV1071: a server that has started has not loaded TLS, and gives back what the start took', async () => {
  const place = makePlace();
  const server = startTendon(place, ['serve', '--port', '0'], { env: { NODE_OPTIONS: `--import=${REPORT}` } });
  await server.until('workspace');
  await server.until('gave back');
  server.signal('SIGTERM');
  expect(await server.ended).toBe(0);
  expect(server.stdout).toContain('tls: false');
});

itInFull('exits with 1 when the port is taken, and says so', async () => {
  const server = startTendon(makePlace(), ['serve', '--port', '0']);
  await server.until('workspace');
  const port = /http:\/\/[^:]+:(\d+)/.exec(server.stdout)?.[1] ?? '';
  const { code, stderr } = await tendon(makePlace(), ['serve', '--port', port]);
  expect(code).toBe(1);
  expect(stderr).toContain(`Port ${port}`);
});
