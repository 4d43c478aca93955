import { describeDriver } from '../contract.ts';
import { createLocalDriver } from './local-driver.ts';

describeDriver('local', {
  make: (executor) => createLocalDriver({ executor }),
  workspacePath: () => '/workspace',
});
