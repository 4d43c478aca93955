import { chownSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { someOf } from '@tendon/testing';
import { createLocalDriver } from '@tendon/runtime';
import { anchorOf, createTestSandboxes, executorFolder, never, run } from '@tendon/runtime/testing';
import { asOrdinaryUser, IS_ROOT, ORDINARY } from './as-ordinary-user.ts';

/** Who owns what a sandbox writes, for each combination of server and workspace that this machine lets us make. */
describe('SB5: files belong to the owner of the workspace', () => {
  const owners = IS_ROOT ? [{ uid: 0, gid: 0 }, ORDINARY] : [{ uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }];

  it.each(someOf(owners, 1))('the server as it is, the workspace of $uid', async (owner) => {
    const sandboxes = createTestSandboxes(createLocalDriver({ executor: executorFolder() }));
    try {
      chownSync(sandboxes.workspace, owner.uid, owner.gid);
      const runtime = await sandboxes.runtimes.acquire('owner', { signal: never });
      expect((await run(runtime, 'mkdir folder; echo x > folder/file; id -un; stat -c %U . folder/file')).output).toBe(
        'tendon\ntendon\ntendon',
      );
      expect(statSync(join(sandboxes.workspace, 'folder/file'))).toMatchObject(owner);
      // On the host the sandbox is never root, no matter which account owns the workspace.
      const anchor = anchorOf(await sandboxes.handle('owner'));
      expect(statSync(`/proc/${anchor.pid}`).uid).not.toBe(0);
    } finally {
      await sandboxes.close();
    }
  });

  it('a server that is an ordinary user', async () => {
    if (!IS_ROOT) return; // then every other test here proves it
    const home = mkdtempSync(join(tmpdir(), 'tendon-owner-'));
    try {
      expect(asOrdinaryUser('ordinary-user.ts', home)).toEqual({
        output: 'tendon\nalive',
        namespaces: 'closed',
        owner: ORDINARY.uid,
        strength: 'os-sandbox',
      });
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  });
});
