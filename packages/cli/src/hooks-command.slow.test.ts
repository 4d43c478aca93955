import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makePlace, tendon } from './tendon-child.test-support.ts';

it('EX909: tendon hooks lists what counts, and exits with 1 when a file does not', async () => {
  const place = makePlace();
  expect(await tendon(place, ['hooks'])).toMatchObject({ code: 0, stdout: expect.stringContaining('There are no hooks') as string });
  const home = join(place.home, '.tendon');
  mkdirSync(home, { recursive: true });
  const guard = { name: 'guard', match: 'run', command: './guard.sh', timeout: 5 };
  writeFileSync(join(home, 'hooks.json'), JSON.stringify({ hooks: { before_action: [guard] } }));
  const { code, stdout } = await tendon(place, ['hooks']);
  expect({ code, stdout }).toEqual({ code: 0, stdout: `guard\n  before_action, on run: ./guard.sh\n  in ${home}, 5 s at most\n` });
  const { stdout: json } = await tendon(place, ['hooks', 'list', '--json']);
  expect(JSON.parse(json)).toEqual({ hooks: [{ ...guard, moment: 'before_action', folder: home }], problems: [] });
  writeFileSync(join(home, 'hooks.json'), '{"hooks": {"before": []}}');
  const wrong = await tendon(place, ['hooks']);
  expect(wrong.code).toBe(1);
  expect(wrong.stdout).toContain('hooks.json do not count: hooks: ');
});
