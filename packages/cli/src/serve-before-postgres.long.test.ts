/** Where things start in any order: the server before its database, or before the hosts of its sandboxes. */
import { freePort } from '@tendon/testing';
import { PostgresCluster } from '@tendon/testing/postgres';
import { ExecutorHostProcess } from '@tendon/testing/servers';
import { expect, it, onTestFinished } from 'vitest';
import { makePlace, startTendon, tendon } from './tendon-child.test-support.ts';

it('SV1105: a server that starts before Postgres says so, is not ready, and serves when it is there; a signal ends the wait', async () => {
  const cluster = await PostgresCluster.start();
  onTestFinished(() => cluster.remove());
  const url = (await cluster.createDatabase('tendon')).replace('postgres@', 'postgres:hush-hush@');
  await cluster.kill();
  const port = String(await freePort());
  const env = { TENDON_DATABASE_URL: url, RUNTIME: 'none' };
  const serve = () => startTendon(makePlace(), ['serve', '--port', port], { env });

  const given = serve();
  await given.until('waits for it');
  given.signal('SIGTERM');
  expect(await given.ended).toBe('SIGTERM');

  const server = serve();
  await server.until('waits for it');
  const ready = () => fetch(`http://127.0.0.1:${port}/ready`).then(async (answer) => `${answer.status} ${await answer.text()}`, String);
  await expect.poll(ready).toMatch(/^503 .*database does not answer/);
  await cluster.resume();
  await server.until('workspace');
  expect(await ready()).toMatch(/^200 /);
  expect(server.stderr.split('waits for it')).toHaveLength(2);
  expect(server.stderr + server.stdout).not.toContain('hush-hush');
  server.signal('SIGTERM');
  expect(await server.ended).toBe(0);

  const none = { ...env, TENDON_DATABASE_URL: url.replace('/tendon?', '/none_such?') };
  const refused = await tendon(makePlace(), ['serve', '--port', port], { env: none });
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringMatching(/^Postgres \(.*none_such.*createdb.*\n$/)]);
});

it('SB1065: a server that starts before its executor host says so, is not ready, and serves when it is there; a wrong key ends it at once', async () => {
  const host = await ExecutorHostProcess.start({ driver: 'none' });
  onTestFinished(() => host.remove());
  await host.kill();
  const port = String(await freePort());
  const server = startTendon(makePlace(), ['serve', '--port', port], { env: host.serverEnvironment });
  await server.until('waits for it');
  const ready = () => fetch(`http://127.0.0.1:${port}/ready`).then(async (answer) => `${answer.status} ${await answer.text()}`, String);
  await expect.poll(ready).toMatch(/^503 .*No executor host answers/);
  await host.start();
  await server.until('workspace');
  expect(await ready()).toMatch(/^200 /);
  expect(server.stderr.split('waits for it')).toHaveLength(2);
  server.signal('SIGTERM');
  expect(await server.ended).toBe(0);

  const wrong = { ...host.serverEnvironment, SANDBOX_API_KEY: 'a key of another host' };
  const refused = await tendon(makePlace(), ['serve', '--port', port], { env: wrong });
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('refuses the key')]);
});
