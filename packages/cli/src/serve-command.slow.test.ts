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

it('exits with 1 when the port is taken, and says so', async () => {
  const server = startTendon(makePlace(), ['serve', '--port', '0']);
  await server.until('workspace');
  const port = /http:\/\/[^:]+:(\d+)/.exec(server.stdout)?.[1] ?? '';
  const { code, stderr } = await tendon(makePlace(), ['serve', '--port', port]);
  expect(code).toBe(1);
  expect(stderr).toContain(`Port ${port}`);
});
