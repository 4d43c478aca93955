import { describeDriver } from './contract.ts';
import { createNoneDriver } from './none-driver.ts';

describeDriver(
  'none',
  (executor) => createNoneDriver({ executor }),
  ({ workspace }) => workspace,
);
