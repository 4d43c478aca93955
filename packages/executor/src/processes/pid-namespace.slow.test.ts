import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { makePidNamespace } from './pid-namespace.ts';

let home = '';
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'tendon-pids-'));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(home, { recursive: true, force: true });
});

it("SB98: the user's own start-up files are not run for it", async () => {
  writeFileSync(join(home, '.bashrc'), `echo ran >> ${join(home, 'ran')}; sleep 1000`);
  vi.stubEnv('HOME', home);
  vi.stubEnv('SHLVL', undefined); // only the first shell would
  const pidNamespace = await makePidNamespace({ shell: '/bin/bash', hidden: [], stateDir: home });
  expect(pidNamespace.reason).toBeUndefined();
  expect(existsSync(join(home, 'ran'))).toBe(false);
  pidNamespace.close();
});

it('SB98: a machine without PID namespaces reports why', async () => {
  const pidNamespace = await makePidNamespace({ shell: '/bin/bash', hidden: [], stateDir: home, tools: home });
  expect(pidNamespace).toMatchObject({ nested: false, enter: [], reason: expect.stringContaining('unshare') });
});
