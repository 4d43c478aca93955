import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createTestSandboxes, executorFolder, never, run } from '../../testing/sandboxes.ts';
import { createDockerDriver } from './docker-driver.ts';
import { engineOfRun } from '../../testing/containers/engine-of-run.ts';
import { openEngine } from '../../testing/containers/open-engine.ts';

const engine = await openEngine(engineOfRun());

describe(`folders of the server in a container of ${engineOfRun()}`, () => {
  afterAll(() => engine.close());

  it('SB229: do not show through the workspace that holds them', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tendon-above-'));
    const home = join(folder, 'deep/.tendon');
    mkdirSync(join(home, 'sandboxes'), { recursive: true });
    writeFileSync(join(home, 'tendon.db'), 'secret');
    const hidden = [home, join(home, 'sandboxes')];
    const driver = createDockerDriver({ executor: executorFolder(), host: engine.host, image: engine.image('bookworm'), hidden });
    const sandboxes = createTestSandboxes(driver, { workspaceOf: async () => ({ hostPath: folder }) });
    try {
      const runtime = await sandboxes.runtimes.acquire('above', { signal: never });
      const { output } = await run(runtime, 'ls -A deep/.tendon; touch deep/.tendon/x; mv deep moved; touch made && ls -A1');
      expect(output).toMatch(/^touch: .*Read-only file system\nmv: .*Device or resource busy\ndeep\nmade$/);
      expect(readdirSync(home).toSorted()).toEqual(['sandboxes', 'tendon.db']);
    } finally {
      await sandboxes.close();
      rmSync(folder, { recursive: true });
    }
  });
});
