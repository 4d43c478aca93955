import { expect, it } from 'vitest';
import { makePlace, startTendon, tendon } from './tendon-child.test-support.ts';

it('serves on a free port until it is asked to stop', async () => {
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

/** Says at the end what was loaded, and how many MiB the young generation has. */
const LAST_WORDS = `data:text/javascript,${encodeURIComponent(`
  import { getHeapSpaceStatistics } from 'node:v8';
  const loaded = process.moduleLoadList;
  process.once('SIGTERM', () => {
    const { space_size: bytes } = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space');
    console.log('tls: ' + loaded.includes('NativeModule tls') + ', young MiB: ' + Math.ceil(bytes / 2 ** 20));
  });
`)}`;

it('SV1070, SV1071: a server that has started has not loaded TLS, and its young generation has not grown', async () => {
  const place = makePlace();
  const server = startTendon(place, ['serve', '--port', '0'], { env: { NODE_OPTIONS: `--import=${LAST_WORDS}` } });
  await server.until('workspace');
  server.signal('SIGTERM');
  expect(await server.ended).toBe(0);
  expect(server.stdout).toMatch(/tls: false, young MiB: [1-4]\n/);
});

it('exits with 1 when the port is taken, and says so', async () => {
  const server = startTendon(makePlace(), ['serve', '--port', '0']);
  await server.until('workspace');
  const port = /http:\/\/[^:]+:(\d+)/.exec(server.stdout)?.[1] ?? '';
  const { code, stderr } = await tendon(makePlace(), ['serve', '--port', port]);
  expect(code).toBe(1);
  expect(stderr).toContain(`Port ${port}`);
});
