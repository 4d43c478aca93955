import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ExecutorHostProcess } from '@tendon/testing/servers';
import { expect, it, onTestFinished } from 'vitest';
import { itInFull } from '@tendon/testing';
import { makePlace, tendon } from './tendon-child.test-support.ts';
import { converse, listed, serve, tracesOf } from './sandboxes/sandboxes.test-support.ts';

const call = (name: string, args: object) => ({ toolCalls: [{ name, arguments: args }] });
/** A job in the background, an orphan, a kernel, and files in temporary folders. */
const SCRIPT = [
  call('execute_bash', { command: 'nohup sleep 1000 >/dev/null 2>&1 & setsid sleep 1000 & echo x > /tmp/file; export MARK=1' }),
  call('execute_ipython_cell', { code: 'import threading; 6 * 7' }),
  call('finish', { message: 'done' }),
];

it('SB96: after a kill -9 of the server, reclaim --all leaves nothing of its sandboxes on the machine', async () => {
  const place = makePlace();
  const { server, url } = await serve(place, SCRIPT);
  const ids = [await converse(url), await converse(url)];
  const all = await listed(place);
  expect(all.map(({ conversation_id }) => conversation_id).toSorted()).toEqual(ids.toSorted());
  for (const one of all) {
    expect(one.state).toBe('awake');
    expect(one.processes).toBeGreaterThan(4);
    expect(one.memory_bytes).toBeGreaterThan(10 * 1024 ** 2);
    expect(one.disk_bytes).toBeGreaterThan(0);
  }
  const incarnations = all.map(({ incarnation }) => incarnation);
  server.signal('SIGKILL');
  await server.ended;
  expect(tracesOf(incarnations)).not.toEqual([]);
  const plain = await tendon(place, ['sandboxes', 'reclaim']);
  expect(plain).toMatchObject({ code: 0, stdout: '0 removed, 2 left alone.\n' });

  const whole = await tendon(place, ['sandboxes', 'reclaim', '--all']);
  expect(whole).toMatchObject({ code: 0, stdout: '2 removed, 0 left alone.\n', stderr: '' });
  expect(tracesOf([...incarnations, join(place.home, '.tendon/sandboxes')])).toEqual([]);
  expect(existsSync(join(place.home, '.tendon/sandboxes'))).toBe(false);
  expect(await listed(place)).toEqual([]);
  expect(existsSync(join(place.home, '.tendon/tendon.db'))).toBe(true);
}, 240_000);

it('SB97, SB138: through a running server: the table, the metrics, a stop, and a reclaim that spares what is in use', async () => {
  const place = makePlace();
  const { server, url } = await serve(place, SCRIPT);
  const id = await converse(url);
  const table = await tendon(place, ['sandboxes']);
  expect(table.stdout).toMatch(new RegExp(`^CONVERSATION.*\\n${id}  go.*  local +\\S+ +${'awake'}  os-sandbox`));
  expect(await tendon(place, ['sandboxes', 'reclaim', '--all', '--json'])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('"kept": 1'),
  });
  const metrics = async (): Promise<string> => (await fetch(`${url}/metrics`)).text();
  expect(await metrics()).toMatch(/^tendon_sandboxes_awake 1$[^]*^tendon_sandboxes_asleep 0$[^]*^tendon_sandboxes_over_disk 0$/m);
  await expect.poll(metrics).toMatch(/^tendon_sandboxes_disk_bytes [1-9]/m);
  expect(await tendon(place, ['sandboxes', 'stop', id])).toMatchObject({ code: 0, stdout: `The sandbox of ${id} has ended.\n` });
  expect(await listed(place)).toEqual([]);
  expect(await tendon(place, ['sandboxes', 'stop', 'nobody'])).toMatchObject({ code: 1, stderr: expect.stringContaining('nobody') });
  server.signal('SIGTERM');
  expect(await server.ended).toBe(0);
  expect(await tendon(place, ['sandboxes'])).toMatchObject({ code: 0, stdout: 'There are no sandboxes.\n' });
  expect((await tendon(place, ['sandboxes', 'nonsense'])).code).toBe(2);
}, 240_000);

itInFull('SB1060, SB1063: shows executor hosts with what they have left, and drains one; doctor says which is away', async () => {
  const place = makePlace();
  const host = await ExecutorHostProcess.start({ driver: 'none' });
  onTestFinished(() => host.remove());
  const away = 'http://127.0.0.1:9';
  const address = host.url.href.replace(/\/$/, '');
  const env = { RUNTIME: 'remote', SANDBOX_REMOTE_RUNTIME_API_URL: `${address},${away}`, SANDBOX_API_KEY: host.key };
  const hosts = async () => (await tendon(place, ['sandboxes', 'hosts'], { env })).stdout;
  expect(await hosts()).toMatch(new RegExp(`^HOST.*\\n${address} +open +0 of \\d+ .*\\n${away} +away .*nothing answers`));
  expect(await tendon(place, ['sandboxes', 'drain', address], { env })).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('takes no new'),
  });
  expect(await hosts()).toMatch(new RegExp(`${address} +draining`));
  await tendon(place, ['sandboxes', 'drain', address, '--off'], { env });
  expect(await hosts()).toMatch(new RegExp(`${address} +open`));
  expect((await tendon(place, ['sandboxes', 'drain', 'http://127.0.0.1:8'], { env })).code).toBe(1);
  const { stdout } = await tendon(place, ['doctor'], { env });
  expect(stdout).toMatch(new RegExp(`ok +host ${address}: Tendon`));
  expect(stdout).toMatch(new RegExp(`FAIL +host ${away}: nothing answers`));
  expect((await tendon(place, ['sandboxes', 'hosts'])).stdout).toContain('on its own machine');
});
