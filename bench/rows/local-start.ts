import { createLocalDriver } from '@tendon/runtime';
import { createTestSandboxes, executorFolder } from '@tendon/runtime/testing';
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
