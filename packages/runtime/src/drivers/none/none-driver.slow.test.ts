import { describeDriver } from '../../testing/driver-contract.ts';
import { createNoneDriver } from './none-driver.ts';

describeDriver('none', {
  make: (executor) => createNoneDriver({ executor }),
  workspacePath: ({ workspace }) => workspace,
});
