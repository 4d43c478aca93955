import { describeDriver } from '../../testing/driver-contract.ts';
import { createLocalDriver } from './local-driver.ts';

describeDriver('local', {
  make: (executor) => createLocalDriver({ executor }),
  workspacePath: () => '/workspace',
});
