import { join } from 'node:path';
import { readConfig, startServer } from '@tendon/server';
import { expect, it } from 'vitest';
import { makePlace, tendon } from './tendon-child.test-support.ts';

it('CK1121: retention lists what would go and why the rest of what is old stays, deletes nothing, and pins what is named', async () => {
  const place = makePlace();
  const read = readConfig({ PORT: '0', TENDON_HOME: join(place.home, '.tendon'), RUNTIME: 'none', LOG_LEVEL: 'silent' });
  if (!read.ok) throw new Error(read.problems.join());
  const clock = {
    now: () => new Date('2020-01-01T00:00:00Z'),
    sleep: () => new Promise<void>(() => undefined),
  };
  const server = await startServer(read.config, { clock, isPrivate: true });
  const ids: string[] = [];
  for (const title of ['the first', 'the second']) {
    const made = await server.engine.conversations.create({});
    if (!made.ok) throw new Error(made.error.message);
    await server.engine.conversations.rename(made.record.id, title);
    ids.push(made.record.id);
  }
  await server.close();
  const [one = '', other = ''] = ids;

  expect(await tendon(place, ['retention', 'pin', other.slice(0, 12)])).toMatchObject({ code: 0, stdout: `Pinned: ${other}\n` });
  const listed = await tendon(place, ['retention', '--dry-run', '--days', '30']);
  expect(listed.code).toBe(0);
  expect(listed.stdout).toMatch(new RegExp(`^${one.slice(0, 8)}  2020-01-01 00:00  goes +the first$`, 'm'));
  expect(listed.stdout).toMatch(new RegExp(`^${other.slice(0, 8)}  2020-01-01 00:00  stays: pinned  the second$`, 'm'));
  const json = await tendon(place, ['retention', '--json'], { env: { TENDON_RETENTION_DAYS: '30' } });
  expect(JSON.parse(json.stdout)).toMatchObject({ days: 30, has_more: false, conversations: [{}, {}] });
  const without = await tendon(place, ['retention', '--dry-run']);
  expect(without).toMatchObject({ code: 1, stderr: expect.stringContaining('name a number of days with --days') as unknown });
  expect((await tendon(place, ['retention', '--days', '0'])).code).toBe(2);
  expect(await tendon(place, ['retention', 'unpin', other])).toMatchObject({ code: 0, stdout: `Unpinned: ${other}\n` });
  expect((await tendon(place, ['retention', '--days', '30'])).stdout).not.toContain('stays');
  expect((await tendon(place, ['ls', '--json'])).stdout).toContain(one);
}, 120_000);
