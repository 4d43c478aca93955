import { readdirSync } from 'node:fs';
import { itInFull } from '@tendon/testing';
import { expect, it } from 'vitest';
import { makePlace, tendon } from './tendon-child.test-support.ts';

it('TJ13: tendon doctor starts each sandbox, says what it found and leaves nothing', async () => {
  const place = makePlace();
  const { code, stdout, stderr } = await tendon(place, ['doctor'], { env: { PORT: '0', RUNTIME: 'none', TMPDIR: place.workspace } });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  for (const words of ['Node: ', 'home: ', 'port: ', 'model: ', 'sandbox local: ', 'sandbox docker: ', 'ok    sandbox none: '])
    expect(stdout).toContain(words);
  expect(readdirSync(place.workspace).filter((name) => name.startsWith('tendon'))).toEqual([]);
});

itInFull('TJ13: what is configured and does not work makes it fail, with what to do', async () => {
  const { code, stdout } = await tendon(makePlace(), ['doctor'], { env: { PORT: '0', RUNTIME: 'none', TENDON_HOME: '/dev/null/home' } });
  expect(code).toBe(1);
  expect(stdout).toMatch(/FAIL {2}home: .*set TENDON_HOME/);
});
