import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { converse, serve } from './sandboxes/sandboxes.test-support.ts';
import { makePlace, tendon } from './tendon-child.test-support.ts';

const bash = (command: string) => ({ toolCalls: [{ name: 'execute_bash', arguments: { command } }] });
const SCRIPT = [
  bash('echo one > a.txt'),
  bash('echo two > a.txt; echo b > b.txt'),
  { toolCalls: [{ name: 'finish', arguments: { message: 'done' } }] },
];

it('CL830 CL966: undo lists checkpoints, shows what would change, takes a step back, and says how to take that back', async () => {
  const place = makePlace();
  const { server, url } = await serve(place, SCRIPT, { env: { WORKSPACE_BASE: place.workspace } });
  const id = await converse(url);
  const file = (name: string): string => join(place.workspace, name);
  const list = await tendon(place, ['undo', id.slice(0, 8), '--list']);
  expect(list).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^ {3}2 .* before event \d+, 1 file\n {3}1 .* before event \d+, 0 files\n$/),
  });
  const dry = await tendon(place, ['undo', id, '--dry-run']);
  expect(dry).toMatchObject({ code: 0, stdout: '~ a.txt\n- b.txt\n' });
  expect(readFileSync(file('a.txt'), 'utf8')).toBe('two\n');

  const undone = await tendon(place, ['undo', id]);
  expect(undone).toMatchObject({
    code: 0,
    stdout:
      'Restored the files of checkpoint 2: 2 files changed. The conversation stays as it is.\n~ a.txt\n- b.txt\nTo take this back: restore checkpoint 3.\n',
  });
  expect([readFileSync(file('a.txt'), 'utf8'), existsSync(file('b.txt'))]).toEqual(['one\n', false]);
  expect((await tendon(place, ['undo', id, '3'])).stdout).toContain('+ b.txt');
  expect(readFileSync(file('a.txt'), 'utf8')).toBe('two\n');

  const exported = await tendon(place, ['export', id, '-f', 'markdown']);
  expect(exported, 'EV932').toMatchObject({ code: 0, stdout: expect.stringContaining('```sh\necho one > a.txt\n```') });

  const both = await tendon(place, ['undo', id, '1', '--what', 'both', '--json']);
  expect(JSON.parse(both.stdout)).toMatchObject({ status: 'restored', checkpoint: 1 });
  expect(existsSync(file('a.txt'))).toBe(false);
  expect(await tendon(place, ['undo', id, '99'])).toMatchObject({ code: 1, stderr: expect.stringContaining('there is no checkpoint 99') });
  expect((await tendon(place, ['undo', id, 'none'])).code).toBe(2);
  server.signal('SIGTERM');
  await server.ended;
  expect(await tendon(place, ['undo', id])).toMatchObject({ code: 1, stderr: expect.stringContaining('No server runs') });
}, 240_000);

it('CL831 CL966: fork prints the id of a conversation that has a folder of its own', async () => {
  const place = makePlace();
  const { server, url } = await serve(place, SCRIPT, { env: { WORKSPACE_BASE: place.workspace } });
  const id = await converse(url);
  const forked = await tendon(place, ['fork', id.slice(0, 8)]);
  expect(forked).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/^[0-9a-f]{32}\n$/) });
  const copy = join(place.home, '.tendon/workspaces', forked.stdout.trim(), 'a.txt');
  expect(readFileSync(copy, 'utf8')).toBe('two\n');
  writeFileSync(copy, 'of the fork');
  expect(readFileSync(join(place.workspace, 'a.txt'), 'utf8')).toBe('two\n');
  expect(JSON.parse((await tendon(place, ['fork', id, '0', '--json'])).stdout)).toMatchObject({ event_id: 0, checkpoint: 1 });
  expect((await tendon(place, ['fork', id, '99999'])).code).toBe(1);
  server.signal('SIGTERM');
  await server.ended;
}, 240_000);
