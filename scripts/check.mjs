#!/usr/bin/env node
// `npm run check`: the daily command, under a minute: format, lint, imports, types, docs, and the quick tests.
import { runWithChecks } from './steps.mjs';
import { say, setup } from './setup.mjs';

try {
  const machine = await setup('start');
  const build = { name: 'executor', args: ['scripts/build.mjs', '--if-stale', 'executor'] };
  const ok = await runWithChecks([build, { name: 'tests', args: ['--project=quick', '--maxWorkers=3'], tests: true }], machine);
  process.exitCode = ok ? 0 : 1;
} catch (error) {
  say(`check: ${error.message}`);
  process.exitCode = 1;
}
