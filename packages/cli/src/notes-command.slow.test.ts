import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makePlace, tendon } from './tendon-child.test-support.ts';

it('EN924: tendon notes prints every file with its path, and exits with 1 when one cannot be read', async () => {
  const place = makePlace();
  const folder = join(place.home, '.tendon/notes');
  const user = join(folder, 'user.md');
  expect(await tendon(place, ['notes'])).toMatchObject({ code: 0, stdout: `${user}\n(nothing is noted)\n` });
  mkdirSync(join(folder, 'repositories'), { recursive: true });
  writeFileSync(user, '- Prefers pnpm.\n');
  writeFileSync(join(folder, 'repositories/acme-app-0123456789ab.md'), '- Run make.\n');
  const { code, stdout } = await tendon(place, ['notes']);
  const repository = join(folder, 'repositories/acme-app-0123456789ab.md');
  expect({ code, stdout }).toEqual({ code: 0, stdout: `${user}\n- Prefers pnpm.\n\n${repository}\n- Run make.\n` });
  const { stdout: json } = await tendon(place, ['notes', 'list', '--json']);
  expect(JSON.parse(json)).toMatchObject({ files: [{ name: 'user', text: '- Prefers pnpm.\n' }, { path: repository }] });
  symlinkSync('/etc/hostname', join(folder, 'repositories/link.md'));
  const wrong = await tendon(place, ['notes']);
  expect(wrong).toMatchObject({ code: 1, stdout: expect.stringContaining('It does not count: it is a link.') as string });
});
