import { createLocalDriver } from '../../packages/runtime/src/drivers/local/local-driver.ts';
import { createTestSandboxes, executorFolder } from '../../packages/runtime/src/sandbox.test-support.ts';
import { startTimes } from '../start-times.ts';
import type { Row } from '../row.ts';

export const localStart: Row = {
  title: 'local sandbox start → ready for the first action, ms',
  of: 'build',
  async measure(_build, { rounds }) {
    const sandboxes = createTestSandboxes(createLocalDriver({ executor: executorFolder() }));
    try {
      return await startTimes(sandboxes, rounds);
    } finally {
      await sandboxes.close();
    }
  },
};
