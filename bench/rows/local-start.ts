import { createLocalDriver } from '../../packages/runtime/src/drivers/local/local-driver.ts';
import { createTestSandboxes, executorFolder, never } from '../../packages/runtime/src/sandbox.test-support.ts';
import type { Row } from '../row.ts';

/** From asking for a sandbox until its executor answers. */
export const localStart: Row = {
  title: 'local sandbox start → ready for the first action, ms',
  of: 'build',
  async measure(_build, { rounds }) {
    const sandboxes = createTestSandboxes(createLocalDriver({ executor: executorFolder() }));
    try {
      const times: number[] = [];
      // The first looks into the machine: once for a server.
      for (let round = 0; round <= rounds; round++) {
        const started = performance.now();
        await sandboxes.runtimes.acquire(`round ${round}`, { signal: never });
        if (round > 0) times.push(performance.now() - started);
        await sandboxes.runtimes.stop(`round ${round}`);
      }
      return times;
    } finally {
      await sandboxes.close();
    }
  },
};
