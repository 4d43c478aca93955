import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makePlace, startTendon, tendon } from '../../packages/cli/src/tendon-child.test-support.ts';
import { Browser, testProvider } from '../../packages/server/src/access/oidc.test-support.ts';

it('CL1302, CK1122: users are listed, given a role, disabled, exported and erased through the server', async () => {
  const provider = await testProvider({ ada: { name: 'Ada', email: 'ada@example.org' } });
  const place = makePlace();
  const env = { ...provider.env, SESSION_API_KEY: 'the-key-of-the-server' };
  expect((await tendon(place, ['users'], { env })).stderr).toContain('No server runs on this home');
  const server = startTendon(place, ['serve', '--port', '0', '-m', place.script([])], { env });
  await server.until('workspace');
  const url = (/http:\/\/[^\s/]+/.exec(server.stdout)?.[0] ?? '').replace('localhost', '127.0.0.1');
  const users = (...args: readonly string[]) => tendon(place, ['users', ...args], { env });
  expect((await users()).stdout).toBe('Nobody has signed in yet.\n');

  const browser = new Browser('ada');
  await browser.get(`${url}/login/oidc`);
  expect((await users()).stdout).toMatch(/^[0-9a-f]{32} {2}Ada {2}ada@example.org {2}\(default: member\)\n$/);
  expect((await users('role', 'ADA@example.org', 'admin')).stdout).toContain('(default: admin)');
  expect((await users('disable', 'bob@example.org')).stderr).toContain('There is no user bob@example.org');
  expect((await users('role', 'ada@example.org', 'root')).code).toBe(2);
  expect((await users('disable', 'ada@example.org')).stdout).toContain('disabled');
  expect((await fetch(`${url}/api/whoami`, { headers: browser.headers(url) })).status).toBe(401);
  const [user] = (JSON.parse((await users('enable', 'ada@example.org', '--json')).stdout) as { organisations: object[] }).organisations;
  expect(user).toEqual({ id: 'default', name: 'default', role: 'admin' });

  const to = join(place.home, 'ada.zip');
  expect((await users('export', 'ada@example.org', '--to', to)).stdout).toMatch(/^Wrote .*ada\.zip, \d+ bytes\.\n$/);
  expect(existsSync(to)).toBe(true);
  expect((await users('export', 'ada@example.org', '--to', to)).code).toBe(1);
  expect(await users('erase', 'ada@example.org')).toMatchObject({ code: 1, stderr: expect.stringContaining('say --force') as string });
  expect((await users()).stdout).toContain('ada@example.org');
  expect((await users('erase', 'ada@example.org', '--force')).stdout).toMatch(/^Erased [0-9a-f]{32}\.\n$/);
  expect((await users()).stdout).toMatch(/erased user [0-9a-f]{8} {2}- {2}\(disabled\)\n$/);
});
