import { join } from 'node:path';
import { createLocalDriver } from '@tendon/runtime';
import { runs, someOf } from '@tendon/testing';
import { describeEscapes } from './contract.ts';
import { NAMES } from '../protected-paths.ts';
import { ESCAPE_LIMITS } from './open-hostile.ts';

/** Each has a test of its own, which is as strict: of a workspace that is swapped, and of the limits of the disk. */
const TESTED_ALONE = new Set(['workspace-swap', 'workspace-disk', 'empty-files']);

describeEscapes('local', {
  starts: runs(8, 4),
  sample: (threats) =>
    someOf(
      threats,
      threats.filter(({ id }) => !TESTED_ALONE.has(id)),
    ),
  make: (executor, { home }) =>
    createLocalDriver({ executor, limits: ESCAPE_LIMITS, hidden: [home], workspacesFolder: join(home, 'workspaces'), protects: NAMES }),
});
