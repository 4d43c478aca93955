import { openEngine, type EngineKind } from '../../packages/runtime/src/drivers/docker/testing/open-engine.ts';
import { createDockerDriver } from '../../packages/runtime/src/drivers/docker/docker-driver.ts';
import { createTestSandboxes, executorFolder, never } from '../../packages/runtime/src/sandbox.test-support.ts';
import type { Row } from '../row.ts';

/** From asking for a sandbox until its executor answers, on an engine of the row's own. That needs root; without, the row stays empty. */
const startOn = (engine: EngineKind, title: string): Row => ({
  title,
  of: 'build',
  measure: async (_build, { rounds }) => (process.getuid?.() === 0 ? containerStarts(engine, rounds) : []),
});

export const dockerStart = startOn('docker', 'container start → ready for the first action, image present, Docker, ms');
export const podmanStart = startOn('podman', '  the same on Podman with runc, ms');

async function containerStarts(kind: EngineKind, rounds: number): Promise<readonly number[]> {
  const engine = await openEngine(kind);
  try {
    const driver = createDockerDriver({ executor: executorFolder(), host: engine.host, image: engine.image('bookworm') });
    const sandboxes = createTestSandboxes(driver);
    const times: number[] = [];
    // The first looks into the image and links what is carried along: once for a server.
    for (let round = 0; round <= rounds; round++) {
      const started = performance.now();
      await sandboxes.runtimes.acquire(`round ${round}`, { signal: never });
      if (round > 0) times.push(performance.now() - started);
      await sandboxes.runtimes.stop(`round ${round}`);
    }
    await sandboxes.close();
    return times;
  } finally {
    await engine.close();
  }
}
