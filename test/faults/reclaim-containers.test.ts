import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { itInFull } from '@tendon/testing';
import { afterAll, expect, it } from 'vitest';
import { openEngine } from '@tendon/runtime/testing/containers';
import { makePlace, tendon, type Place } from '../../packages/cli/src/tendon-child.test-support.ts';
import { converse, listed, serve, tracesOf } from '../../packages/cli/src/sandboxes/sandboxes.test-support.ts';

const engine = await openEngine('docker');
afterAll(() => engine.close());
const IN_CONTAINERS = {
  env: { RUNTIME: 'docker', DOCKER_HOST: engine.host, SANDBOX_BASE_CONTAINER_IMAGE: engine.image('busybox'), SANDBOX_IDLE_SECONDS: '1' },
};
const LOCALLY = { env: { RUNTIME: 'local' } };
const call = (name: string, args: object) => ({ toolCalls: [{ name, arguments: args }] });
const SCRIPT = [
  call('execute_bash', { command: 'setsid sleep 1000 & echo x > /tmp/file; echo y > ~/file' }),
  call('finish', { message: 'done' }),
];

/** Two conversations whose containers run or are suspended, and the server was killed; what could name them. */
async function leaveContainers(place: Place): Promise<readonly string[]> {
  const { server, url } = await serve(place, SCRIPT, IN_CONTAINERS);
  await converse(url);
  await converse(url);
  const all = await listed(place, IN_CONTAINERS);
  expect(all.map(({ driver }) => driver)).toEqual(['docker', 'docker']);
  server.signal('SIGKILL');
  await server.ended;
  const containers = engine.command('ps', '--all', '--quiet', '--no-trunc').split('\n').filter(Boolean);
  expect(containers).toHaveLength(2);
  return [...all.map(({ incarnation }) => incarnation), ...containers];
}

const containers = (): string => engine.command('ps', '--all', '--quiet').trim();

it('SB134: after a kill -9 of a server with containers, reclaim with the driver local leaves nothing of them', async () => {
  const place = makePlace();
  const networks = engine.command('network', 'ls', '--quiet');
  const marks = await leaveContainers(place);
  expect(tracesOf(marks)).not.toEqual([]);
  // Of conversations that are there, and alive: nobody ended them.
  expect(await tendon(place, ['sandboxes', 'reclaim'], LOCALLY)).toMatchObject({ code: 0, stdout: '0 removed, 2 left alone.\n' });
  expect((await listed(place, LOCALLY)).map(({ state }) => state)).not.toContain('dead');
  expect(await tendon(place, ['sandboxes', 'reclaim', '--all'], LOCALLY)).toMatchObject({ code: 0, stdout: '2 removed, 0 left alone.\n' });
  expect([containers(), ...tracesOf([...marks, join(place.home, '.tendon/sandboxes')])]).toEqual(['']);
  expect(existsSync(join(place.home, '.tendon/sandboxes'))).toBe(false);
  expect(engine.command('network', 'ls', '--quiet')).toBe(networks);
  expect(await listed(place, LOCALLY)).toEqual([]);
}, 240_000);

itInFull(
  'SB134: a server that starts with the driver local ends what it cannot use, and the conversation goes on',
  { timeout: 240_000 },
  async () => {
    const place = makePlace();
    const marks = await leaveContainers(place);
    const { server, url } = await serve(place, SCRIPT, LOCALLY);
    await expect.poll(() => [containers(), ...tracesOf(marks)], { timeout: 60_000, interval: 200 }).toEqual(['']);
    await converse(url);
    expect((await listed(place, LOCALLY)).filter(({ state }) => state === 'awake').map(({ driver }) => driver)).toEqual(['local']);
    server.signal('SIGKILL');
    await server.ended;
    // And the other way round.
    expect(await tendon(place, ['sandboxes', 'reclaim', '--all'], IN_CONTAINERS)).toMatchObject({ code: 0 });
    expect(tracesOf([join(place.home, '.tendon/sandboxes')])).toEqual([]);
  },
);
