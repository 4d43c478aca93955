import { describeDriver } from '../contract.ts';
import { dockerUnderTest } from './testing/docker-under-test.ts';

describeDriver('docker on podman', await dockerUnderTest('podman'));
