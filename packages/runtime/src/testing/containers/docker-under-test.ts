/** Engines and images of our own for the tests of containers. */
import type { DriverUnderTest } from '../driver-contract.ts';
import { openEngine, type EngineKind, type TestEngine } from './open-engine.ts';
import { leftOf } from '../sandboxes.ts';
import { createDockerDriver } from '../../drivers/docker/docker-driver.ts';

export { openEngine, type EngineKind, type TestEngine };

/** The driver for `describeDriver`, on an engine that ends with the suite. */
export async function dockerUnderTest(kind: EngineKind): Promise<DriverUnderTest> {
  const engine = await openEngine(kind);
  return {
    make: (executor) => createDockerDriver({ executor, host: engine.host, image: engine.image('bookworm') }),
    workspacePath: () => '/workspace',
    leftOf: async (incarnation, { stateRoot }) => [...leftOf(incarnation, stateRoot), ...containersOf(engine, incarnation)],
    close: () => engine.close(),
  };
}

export function containersOf(engine: TestEngine, incarnation: string): readonly string[] {
  const filter = `label=dev.tendon.incarnation=${incarnation}`;
  const ids = engine.command('ps', '--all', '--quiet', '--filter', filter).split('\n').filter(Boolean);
  return ids.map((id) => `container ${id}`);
}
