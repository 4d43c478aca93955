import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makePlace, startTendon, tendon } from './tendon-child.test-support.ts';

it('CK1120: audit verify says that the log is whole, or the first entry that is not, with its exit code; export gives every entry', async () => {
  const place = makePlace();
  const env = { TENDON_AUDIT: 'on' };
  expect(await tendon(place, ['audit', 'verify'], { env })).toMatchObject({ code: 1, stdout: expect.stringContaining('no entries') });
  const server = startTendon(place, ['serve', '--port', '0', '-m', place.script([])], { env });
  await server.until('workspace');
  expect((await tendon(place, ['keys', 'create', '--name', 'Ada', '--scope', 'read'])).code).toBe(0);
  const running = await tendon(place, ['audit', 'verify']);
  expect(running).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^2 entries, all as they were written\.\nhead 2:[0-9a-f]{64}\n$/),
  });
  const head = /head (\S+)/.exec(running.stdout)![1]!;
  server.signal('SIGTERM');
  expect(await server.ended).toBe(0);
  expect(await tendon(place, ['audit', 'verify', '--head', head])).toMatchObject({ code: 0, stdout: expect.stringMatching(/^3 entries/) });
  const { stdout } = await tendon(place, ['audit', 'export']);
  const lines = stdout.trim().split('\n');
  const entries = lines.map((line) => JSON.parse(line) as { action: string });
  expect(entries.map(({ action }) => action)).toEqual(['server.started', 'key.created', 'server.stopped']);

  const file = join(place.home, 'audit.jsonl');
  const verifyFile = async (text: readonly string[], ...more: string[]) => {
    writeFileSync(file, `${text.join('\n')}\n`);
    return tendon(place, ['audit', 'verify', '--file', file, ...more]);
  };
  expect(await verifyFile(lines)).toMatchObject({ code: 0, stdout: expect.stringContaining('seals were not checked') });
  expect(await verifyFile([lines[0]!, lines[1]!.replace('Ada', 'Eve'), lines[2]!])).toMatchObject({
    code: 1,
    stdout: 'Entry 2 was changed: its hash is of another content.\n',
  });
  expect(await verifyFile([lines[0]!], '--head', head)).toMatchObject({ code: 1, stdout: expect.stringMatching(/^Entry 2 was removed/) });
  expect((await tendon(place, ['audit', 'verify', '--head', 'nonsense'])).code).toBe(2);
}, 240_000);
