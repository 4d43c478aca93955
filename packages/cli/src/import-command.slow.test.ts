import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { itInFull } from '@tendon/testing';
import { expect, it } from 'vitest';
import { makePlace, tendon } from './tendon-child.test-support.ts';

itInFull('TJ1, TJ3: tendon import says in words what came over, and does it once', async () => {
  const place = makePlace();
  const folder = join(place.workspace, 'store/sessions/abc/events');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, '0.json'), JSON.stringify({ id: 0, source: 'user', action: 'message', args: { content: 'Hello' } }));
  const first = await tendon(place, ['import', 'store']);
  expect(first).toEqual({ code: 0, stderr: '', stdout: 'Imported 1 conversation with 1 event.\n' });
  const second = await tendon(place, ['import', 'store']);
  expect(second).toMatchObject({ code: 0, stdout: expect.stringContaining('1 conversation had been imported before.') as string });
  expect(await tendon(place, ['import', 'nowhere'])).toMatchObject({ code: 1, stderr: 'nowhere is not there.\n' });
});

it('EV932: tendon export writes what is stored, in each format', async () => {
  const place = makePlace();
  const folder = join(place.workspace, 'store/sessions/abc/events');
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, '0.json'),
    JSON.stringify({ id: 0, source: 'user', action: 'message', args: { content: 'Hello\u001b]0;x\u0007' } }),
  );
  await tendon(place, ['import', 'store']);
  const json = await tendon(place, ['export', 'abc', '-o', 'out.json']);
  expect(json).toMatchObject({ code: 0, stdout: '', stderr: '' });
  const { trajectory } = JSON.parse(readFileSync(join(place.workspace, 'out.json'), 'utf8')) as { trajectory: readonly object[] };
  expect(trajectory[0]).toMatchObject({ args: { content: 'Hello\u001b]0;x\u0007' } });
  expect(JSON.parse((await tendon(place, ['export', 'abc', '-f', 'atif'])).stdout)).toMatchObject({
    steps: [{ message: expect.stringContaining('Hello') as string }],
  });
  // People look at it on a terminal, which escape sequences would command.
  expect((await tendon(place, ['export', 'abc', '-f', 'markdown'])).stdout).toMatch(/\n## User\n\nHello\n/);
  expect((await tendon(place, ['show', 'abc'])).stdout).toContain('> Hello');
  const missing = await tendon(place, ['export', 'abd', '-f', 'markdown', '-o', 'none.md']);
  expect(missing).toMatchObject({ code: 1, stderr: 'There is no conversation abd.\n' });
  expect(existsSync(join(place.workspace, 'none.md'))).toBe(false);
  expect((await tendon(place, ['export', 'abc', '-f', 'xml'])).code).toBe(2);
});

itInFull('SV110: keys that are moved over are sealed as the server of this home seals them', async () => {
  const place = makePlace();
  const home = join(place.home, '.tendon');
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, 'config.toml'), '[core]\njwt_secret = "of-the-config-file"\n');
  mkdirSync(join(place.workspace, 'store'));
  writeFileSync(join(place.workspace, 'store/settings.json'), JSON.stringify({ llm_api_key: 'sk-0123456789' }));
  expect(await tendon(place, ['import', 'store'])).toMatchObject({ code: 0, stdout: expect.stringContaining('the settings') as string });
  // Where no other secret says how, none is made.
  expect(existsSync(join(home, 'tendon.db'))).toBe(true);
  expect(existsSync(join(home, 'jwt-secret'))).toBe(false);
});
