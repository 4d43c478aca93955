#!/usr/bin/env node
// `npm test`: everything that a fresh machine can prove, set-up included. The last line is `N passed, N failed`.
//   --long     the soaks instead        --shared   what needs ../shared (recorded runs, peers) instead
// A test that fails is tried once more, and named when it passes then.
import { CHECKS, runSteps } from './steps.mjs';
import { say, setup } from './setup.mjs';

const build = { name: 'build', args: ['scripts/build.mjs', '--if-stale'] };
const RUNS = {
  all: [...CHECKS, build, { name: 'tests', args: ['--project=quick', '--project=thorough', '--retry=1'], tests: true }],
  long: [build, { name: 'long tests', args: ['--project=long'], tests: true }],
  shared: [build, { name: 'tests with ../shared', args: ['--project=shared'], tests: true }],
};

const [mode = 'all'] = process.argv.slice(2).map((arg) => arg.replace(/^--/, ''));
try {
  if (!(mode in RUNS)) throw new Error(`unknown option --${mode}; there are --long and --shared`);
  process.exitCode = runSteps(RUNS[mode], setup('test')) ? 0 : 1;
} catch (error) {
  say(`test: ${error.message}`);
  process.stdout.write('0 passed, 1 failed\n');
  process.exitCode = 1;
}
