import { expect, it } from 'vitest';
import { makePlace, startTendon, tendon } from './tendon-child.test-support.ts';

it('SV1252, CK1100: `tendon drain` waits until the server of the home has drained, as its owner', async () => {
  const place = makePlace();
  const env = { SESSION_API_KEY: 'the-key-of-a-session', TENDON_DRAIN_SECONDS: '1' };
  expect(await tendon(place, ['drain'], { env })).toMatchObject({ code: 1, stderr: 'No server runs on this home.\n' });
  const server = startTendon(place, ['serve', '--port', '0', '-m', place.script([])], { env });
  await server.until('workspace');
  const url = /http:\/\/\S+/.exec(server.stdout)?.[0] ?? '';
  const ready = async () => (await fetch(`${url}/ready`)).status;
  expect(await ready()).toBe(200);
  expect((await fetch(`${url}/cluster/drain`, { method: 'POST' })).status).toBe(401);
  expect(await tendon(place, ['drain'], { env })).toMatchObject({ code: 0, stderr: '' });
  expect(await ready()).toBe(503);
  server.signal('SIGTERM');
  expect(await server.ended).toBe(0);
});
