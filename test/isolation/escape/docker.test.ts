import { createDockerDriver } from '@tendon/runtime';
import { containersOf, openEngine } from '@tendon/runtime/testing/containers';
import { runs, someOf } from '@tendon/testing';
import { describeEscapes } from './contract.ts';
import { NAMES } from '../protected-paths.ts';
import { ESCAPE_LIMITS } from './open-hostile.ts';

const engine = await openEngine('docker');

describeEscapes('docker', {
  make: (executor, { home }) =>
    createDockerDriver({
      ...{ executor, host: engine.host, image: engine.image('bookworm') },
      ...{ limits: ESCAPE_LIMITS, hidden: [home], protects: NAMES },
    }),
  alsoLeft: (incarnation) => containersOf(engine, incarnation),
  close: () => engine.close(),
  starts: runs(8, 4),
  // Of each kind the first, the last and what lies between: the kernel, which the sandboxes of `local` share, is tried with every threat there.
  sample: (threats) => someOf(threats, 4),
});
