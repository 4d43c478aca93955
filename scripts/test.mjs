#!/usr/bin/env node
// `npm test`: everything that a fresh machine can prove, set-up included. The last line is `N passed, N failed`.
//   --long     the soaks instead        --shared   what needs ../shared (recorded runs, peers) instead
//   --cluster  several servers on one Postgres, and sandboxes of a Kubernetes API server, instead
//   --record  also writes how long each file takes, by which test/order-of-files.ts orders them
//   a word: only the test files with it in their path
import { runWithChecks, runSteps } from './steps.mjs';
import { say, setupInPart } from './setup.mjs';

const build = { name: 'build', args: ['scripts/build.mjs', '--if-stale', 'executor', 'web', 'bundle', 'client', 'faults'] };
const controlPlane = { name: 'Kubernetes control plane', args: ['packages/runtime/src/testing/cluster/control-plane/build.ts'] };
const RUNS = {
  all: [build, { name: 'tests', args: ['--project=quick', '--project=thorough'], tests: true }],
  long: [build, { name: 'long tests', args: ['--project=long', '--maxWorkers=2'], tests: true }],
  cluster: [build, controlPlane, { name: 'tests of several servers', args: ['--project=cluster', '--maxWorkers=2'], tests: true }],
  shared: [build, { name: 'tests with ../shared', args: ['--project=shared'], tests: true }],
};

const given = process.argv.slice(2);
const options = given.filter((arg) => arg.startsWith('--')).map((arg) => arg.slice(2));
const record = options.includes('record');
const [mode = 'all'] = options.filter((option) => option !== 'record');
const files = given.filter((arg) => !arg.startsWith('--'));
try {
  if (!(mode in RUNS)) throw new Error(`unknown option --${mode}; there are --long, --cluster, --shared and --record`);
  const run = mode === 'all' ? runWithChecks : runSteps;
  const steps = RUNS[mode].map((step) => (step.tests ? { ...step, record, args: [...step.args, ...files] } : step));
  process.exitCode = (await run(steps, setupInPart(mode === 'long' ? 'test:long' : 'test'))) ? 0 : 1;
} catch (error) {
  say(`test: ${error.message}`);
  process.stdout.write('0 passed, 1 failed\n');
  process.exitCode = 1;
}
