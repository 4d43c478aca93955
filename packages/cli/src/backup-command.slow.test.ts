import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makePlace, startTendon, tendon } from './tendon-child.test-support.ts';

it('TJ9, TJ12: tendon backup copies what a running server has, and tendon restore puts it into another home', async () => {
  const place = makePlace();
  const server = startTendon(place, ['serve', '--port', '0']);
  await server.until('workspace');
  const url = /http:\/\/\S+/.exec(server.stdout)?.[0] ?? '';
  expect(
    (await fetch(`${url}/api/conversations`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' })).status,
  ).toBe(200);
  const folder = join(place.workspace, 'copy');
  expect(await tendon(place, ['backup', 'copy'])).toEqual({ code: 0, stderr: '', stdout: `${folder} holds 1 conversation.\n` });
  expect(await tendon(place, ['restore', 'copy', '--force'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('in use') as string,
  });
  const home = join(place.workspace, 'other');
  expect(await tendon(place, ['restore', 'copy', '--home', home])).toMatchObject({ code: 0, stdout: `${home} has 1 conversation now.\n` });
});
