import { describeDriver } from '../contract.ts';
import { createLocalDriver } from './local-driver.ts';

describeDriver(
  'local',
  (executor) => createLocalDriver({ executor }),
  () => '/workspace',
);
