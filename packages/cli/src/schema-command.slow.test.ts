import { spawnSync } from 'node:child_process';
import { builtTendon } from '@tendon/testing/servers';
import { expect, it } from 'vitest';
import { makePlace, tendon } from './tendon-child.test-support.ts';

it('CK965 CK966: types are printed as JSON Schema and as Swift, without a server', async () => {
  const place = makePlace();
  const printed = await tendon(place, ['schema']);
  expect(printed).toMatchObject({ code: 0, stderr: '' });
  expect(JSON.parse(printed.stdout)).toMatchObject({ $defs: { RunAction: { type: 'object' }, FileNode: {}, CreateConversation: {} } });
  const swift = await tendon(place, ['schema', '--swift']);
  expect(swift).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('public enum Event: Codable') as string });
  // Who has seen enough closes the pipe.
  const cut = spawnSync('sh', ['-c', '"$0" "$1" schema | head -n 1', process.execPath, builtTendon()], { encoding: 'utf8' });
  expect(cut).toMatchObject({ stdout: '{\n', stderr: '' });
});
