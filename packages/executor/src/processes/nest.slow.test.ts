import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { makeNest } from './nest.ts';

let home = '';
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'tendon-nest-'));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(home, { recursive: true, force: true });
});

it("SB98: the user's own start-up files are not run for it", async () => {
  writeFileSync(join(home, '.bashrc'), `echo ran >> ${join(home, 'ran')}; sleep 1000`);
  vi.stubEnv('HOME', home);
  vi.stubEnv('SHLVL', undefined); // only the first shell would
  const nest = await makeNest({ shell: '/bin/bash', hidden: [], stateDir: home });
  expect(nest.reason).toBeUndefined();
  expect(existsSync(join(home, 'ran'))).toBe(false);
  nest.close();
});

it('SB98: a machine that cannot nest says why', async () => {
  const nest = await makeNest({ shell: '/bin/bash', hidden: [], stateDir: home, tools: home });
  expect(nest).toMatchObject({ nested: false, enter: [], reason: expect.stringContaining('unshare') });
});
