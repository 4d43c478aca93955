import { createDockerDriver } from '@tendon/runtime';
import { createTestSandboxes, executorFolder } from '@tendon/runtime/testing';
import { type EngineKind, openEngine } from '@tendon/runtime/testing/containers';
import { startTimes } from '../start-times.ts';
import type { Row } from '../row.ts';

/** On an engine of the row's own. That needs root; without, the row stays empty. */
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
    const times = await startTimes(sandboxes, rounds);
    await sandboxes.close();
    return times;
  } finally {
    await engine.close();
  }
}
