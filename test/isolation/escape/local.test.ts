import { join } from 'node:path';
import { createLocalDriver } from '@tendon/runtime';
import { runs } from '@tendon/testing';
import { describeEscapes } from './contract.ts';
import { NAMES } from '../protected-paths.ts';
import { ESCAPE_LIMITS } from './open-hostile.ts';

describeEscapes('local', {
  starts: runs(8, 4),
  make: (executor, { home }) =>
    createLocalDriver({ executor, limits: ESCAPE_LIMITS, hidden: [home], workspacesFolder: join(home, 'workspaces'), protects: NAMES }),
});
