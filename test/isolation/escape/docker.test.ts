import { createDockerDriver } from '../../../packages/runtime/src/drivers/docker/docker-driver.ts';
import { containersOf, openEngine } from '../../../packages/runtime/src/drivers/docker/testing/docker-under-test.ts';
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
});
