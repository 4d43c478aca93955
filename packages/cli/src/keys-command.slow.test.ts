import { expect, it } from 'vitest';
import { makePlace, startTendon, tendon } from './tendon-child.test-support.ts';

interface Key {
  readonly id: string;
  readonly key: string;
}

it('SV70: keys are made, listed and revoked, with and without a server, and a kill loses none', async () => {
  const place = makePlace();
  const made = await tendon(place, ['keys', 'create', '--name', 'Ada', '--scope', 'read', '--expires', '1d', '--json']);
  expect({ code: made.code, stderr: made.stderr }).toEqual({ code: 0, stderr: '' });
  const ada = JSON.parse(made.stdout) as Key;

  const env = { SESSION_API_KEY: 'the-key-of-a-session' };
  const server = startTendon(place, ['serve', '--port', '0', '-m', place.script([])], { env });
  await server.until('workspace');
  const url = /http:\/\/\S+/.exec(server.stdout)?.[0] ?? '';
  const status = async (key: string) => (await fetch(`${url}/api/conversations`, { headers: { 'X-Session-API-Key': key } })).status;
  expect(await status(ada.key)).toBe(200);

  const bob = (await tendon(place, ['keys', 'create', '--name', 'Bob', '--scope', 'drive'], { env })).stdout.trim();
  expect(await status(bob)).toBe(200);
  expect((await tendon(place, ['keys', 'revoke', ada.id], { env })).code).toBe(0);
  expect(await status(ada.key)).toBe(401);
  server.signal('SIGKILL');
  await server.ended;

  const listed = await tendon(place, ['keys', '--json']);
  expect(JSON.parse(listed.stdout)).toMatchObject({ keys: [{ name: 'Bob', scope: 'drive', expires_at: null }] });
  expect(listed.stdout).not.toContain(bob.slice(-43));
  expect((await tendon(place, ['keys', 'revoke', ada.id])).stderr).toContain(`There is no key ${ada.id}`);
  expect((await tendon(place, ['keys', 'create', '--name', 'x', '--scope', 'root'])).code).toBe(2);
  expect((await tendon(place, ['keys', 'create', '--name', 'x', '--scope', 'read', '--expires', 'soon'])).code).toBe(2);
});
