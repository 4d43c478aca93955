import { expect, it } from 'vitest';
import { makePlace, startTendon, tendon } from '../../packages/cli/src/tendon-child.test-support.ts';
import { Browser, testProvider } from '../../packages/server/src/access/oidc.test-support.ts';

it('TR952: secrets of a user, of their organisation and of the server are stored, listed, bound and removed by who may', async () => {
  const ada = { name: 'Ada', email: 'ada@example.org', email_verified: true, groups: ['admins'] };
  const bob = { ...ada, name: 'Bob', email: 'bob@example.org' };
  const provider = await testProvider({ ada, bob, carl: { ...ada, name: 'Carl', email: 'carl@example.org', groups: ['members'] } });
  const place = makePlace();
  const env = { ...provider.env, OIDC_ROLES: 'admins=acme:admin,members=acme:member', SESSION_API_KEY: 'the-key-of-the-server' };
  const server = startTendon(place, ['serve', '--port', '0', '-m', place.script([])], { env });
  await server.until('workspace');
  const url = (/http:\/\/[^\s/]+/.exec(server.stdout)?.[0] ?? '').replace('localhost', '127.0.0.1');
  const keyOf = async (name: string, scope: string): Promise<string> => {
    const browser = new Browser(name);
    await browser.get(`${url}/login/oidc`);
    const headers = { ...browser.headers(url), 'content-type': 'application/json' };
    const made = await fetch(`${url}/api/keys`, { method: 'POST', headers, body: JSON.stringify({ name, scope }) });
    return ((await made.json()) as { key: string }).key;
  };
  const as =
    (key: string) =>
    async (...args: readonly string[]) => {
      const { code, stdout, stderr } = await tendon(place, ['secrets', ...args], {
        env: { SESSION_API_KEY: key },
        input: 'a-value-of-its-own\n',
      });
      return code === 0 ? stdout.trim() : `${code}: ${stderr.trim()}`;
    };
  const [byAda, byBob] = [as(await keyOf('ada', 'admin')), as(await keyOf('bob', 'admin'))];
  const [byCarl, byServer] = [as(await keyOf('carl', 'drive')), as(env.SESSION_API_KEY)];

  expect(await byAda('add', 'ADAS')).toBe('Stored: ADAS.');
  expect(await byAda('add', 'TEAM', '--owner', 'organisation', '--host', 'example.org')).toBe('Stored: TEAM.');
  expect(await byServer('add', 'SHARED')).toBe('Stored: SHARED.');
  expect([await byAda(), await byAda('list', '--owner', 'own')]).toEqual(['ADAS  anywhere', 'ADAS  anywhere']);
  expect(JSON.parse(await byAda('list', '--owner', 'organisation', '--json'))).toEqual({
    owner: 'organisation',
    secrets: [{ name: 'TEAM', description: null, hosts: ['example.org'] }],
  });
  expect([await byServer(), await byServer('list', '--owner', 'server')]).toEqual(['SHARED  anywhere', 'SHARED  anywhere']);

  expect(await byBob()).toBe('There are no secrets.');
  expect(await byBob('list', '--owner', 'organisation')).toMatch(/^TEAM /);
  expect(await byCarl('list', '--owner', 'organisation')).toMatch(/^1: .*"admin"/);
  expect(await byAda('add', 'SHARED', '--owner', 'server')).toMatch(/^1: .*administer/);
  expect(await byServer('list', '--owner', 'own')).toMatch(/^1: .*of no user/);
  expect(await byServer('list', '--owner', 'nobody')).toMatch(/^2: /);

  expect(await byAda('hosts', 'TEAM', '--owner', 'organisation')).toBe('TEAM may go anywhere.');
  expect(await byAda('remove', 'ADAS', '--owner', 'organisation')).toMatch(/^1: /);
  expect(await byAda('remove', 'TEAM', '--owner', 'organisation')).toBe('Removed: TEAM.');
  expect([await byAda(), await byBob('list', '--owner', 'organisation')]).toEqual(['ADAS  anywhere', 'There are no secrets.']);
});
