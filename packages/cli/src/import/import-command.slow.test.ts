import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makePlace, tendon } from '../tendon-child.test-support.ts';

it('TJ1, TJ3: tendon import says in words what came over, and does it once', async () => {
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
