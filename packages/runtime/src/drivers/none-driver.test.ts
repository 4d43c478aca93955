import { describeDriver } from './contract.ts';
import { createNoneDriver } from './none-driver.ts';
import { executorFolder } from '../sandbox.test-support.ts';

const executor = executorFolder();
describeDriver(
  'none',
  () => createNoneDriver({ executor }),
  ({ workspace }) => workspace,
);
