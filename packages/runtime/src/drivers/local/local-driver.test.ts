import { describeDriver } from '../contract.ts';
import { executorFolder } from '../../sandbox.test-support.ts';
import { createLocalDriver } from './local-driver.ts';

const executor = executorFolder();
describeDriver(
  'local',
  () => createLocalDriver({ executor }),
  () => '/workspace',
);
