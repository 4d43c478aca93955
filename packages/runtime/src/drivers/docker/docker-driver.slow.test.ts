import { describeDriver } from '../../testing/driver-contract.ts';
import { dockerUnderTest } from '../../testing/containers/docker-under-test.ts';
import { engineOfRun } from '../../testing/containers/engine-of-run.ts';

describeDriver(`docker on ${engineOfRun()}`, await dockerUnderTest(engineOfRun()));
