import { describeDriver } from '../contract.ts';
import { dockerUnderTest } from './testing/docker-under-test.ts';
import { engineOfRun } from './testing/engine-of-run.test-support.ts';

describeDriver(`docker on ${engineOfRun}`, await dockerUnderTest(engineOfRun));
