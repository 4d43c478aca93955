import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { someOf } from '@tendon/testing';
import { createDockerDriver } from '@tendon/runtime';
import { createTestSandboxes, executorFolder, never, run } from '@tendon/runtime/testing';
import { openEngine } from '@tendon/runtime/testing/containers';
import { asOrdinaryUser, ORDINARY } from './as-ordinary-user.ts';

const engine = await openEngine('docker');
const image = engine.image('bookworm');
afterAll(() => engine.close());

it('SB5: files of a container belong to the ordinary user whose server it is', () => {
  chmodSync(engine.host.replace('unix://', ''), 0o666);
  const home = mkdtempSync(join(tmpdir(), 'tendon-owner-'));
  try {
    expect(asOrdinaryUser('ordinary-user.ts', home, `docker=${engine.host}=${image}`)).toEqual({
      output: 'tendon\nalive',
      namespaces: 'closed',
      owner: ORDINARY.uid,
      strength: 'container',
    });
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
});

it.each(
  someOf(
    [
      ['root', 0],
      ['somebody', 1500],
    ] as const,
    1,
  ),
)('SB5: with a server of root, files belong to the owner of the workspace: %s; the container is never root', async (_who, uid) => {
  const folder = mkdtempSync(join(tmpdir(), 'tendon-owner-'));
  const workspace = join(folder, 'theirs');
  mkdirSync(workspace);
  chownSync(workspace, uid, uid);
  const driver = createDockerDriver({ executor: executorFolder(), host: engine.host, image });
  const sandboxes = createTestSandboxes(driver, { folder, workspaceOf: async () => ({ hostPath: workspace }) });
  try {
    const runtime = await sandboxes.runtimes.acquire('owned', { signal: never });
    await run(runtime, 'touch made');
    expect(statSync(join(workspace, 'made')).uid).toBe(uid);
    const { anchor } = await sandboxes.handle('owned');
    expect(statSync(`/proc/${anchor?.pid}`).uid).toBeGreaterThan(0);
  } finally {
    await sandboxes.close();
  }
});
