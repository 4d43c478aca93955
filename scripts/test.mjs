#!/usr/bin/env node
// `npm test`: everything that a fresh machine can prove, set-up included. The last line is `N passed, N failed`.
//   --long     the soaks instead        --shared   what needs ../shared (recorded runs, peers) instead
//   a word: only the test files with it in their path
// A test that fails is tried once more, and named when it passes then.
import { CHECKS, runSteps } from './steps.mjs';
import { say, setup } from './setup.mjs';

const build = { name: 'build', args: ['scripts/build.mjs', '--if-stale'] };
const RUNS = {
  all: [...CHECKS, build, { name: 'tests', args: ['--project=quick', '--project=thorough', '--retry=1'], tests: true }],
  long: [build, { name: 'long tests', args: ['--project=long', '--maxWorkers=2'], tests: true }],
  shared: [build, { name: 'tests with ../shared', args: ['--project=shared'], tests: true }],
};

const given = process.argv.slice(2);
const [mode = 'all'] = given.filter((arg) => arg.startsWith('--')).map((arg) => arg.slice(2));
const files = given.filter((arg) => !arg.startsWith('--'));
try {
  if (!(mode in RUNS)) throw new Error(`unknown option --${mode}; there are --long and --shared`);
  process.exitCode = runSteps(
    RUNS[mode].map((step) => (step.tests ? { ...step, args: [...step.args, ...files] } : step)),
    setup('test'),
  )
    ? 0
    : 1;
} catch (error) {
  say(`test: ${error.message}`);
  process.stdout.write('0 passed, 1 failed\n');
  process.exitCode = 1;
}
