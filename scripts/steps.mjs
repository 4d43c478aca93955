// Runs named steps one after the other and counts them: a step is one check, or a whole test run with counts of its own.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { root } from './setup.mjs';

/** `steps`: [name, args for Node, vitest?]. Prints what it does, then `N passed, N failed`; returns whether all passed. */
export function runSteps(steps, { node, env }) {
  let passed = 0;
  let failed = 0;
  const times = [];
  for (const { name, args, tests } of steps) {
    process.stdout.write(`\n── ${name}\n`);
    const started = Date.now();
    const result = tests ? runTests(args, { node, env }) : runCheck(args, { node, env });
    passed += result.passed;
    failed += result.failed;
    times.push(`${name} ${((Date.now() - started) / 1000).toFixed(1)} s`);
  }
  process.stdout.write(`\n${times.join(' · ')}\n${passed} passed, ${failed} failed\n`);
  return failed === 0;
}

function runCheck(args, { node, env }) {
  const { status } = spawnSync(node, args, { cwd: root, env, stdio: ['ignore', 'inherit', 'inherit'] });
  return status === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
}

function runTests(args, { node, env }) {
  const folder = mkdtempSync(join(tmpdir(), 'tendon-test-'));
  const output = join(folder, 'results.json');
  try {
    const vitest = [
      join(root, 'node_modules/vitest/vitest.mjs'),
      'run',
      ...args,
      '--reporter=dot',
      '--reporter=json',
      `--reporter=${join(root, 'scripts/flaky-reporter.mjs')}`,
      `--outputFile.json=${output}`,
    ];
    const { status } = spawnSync(node, vitest, {
      cwd: root,
      env: process.stdout.isTTY ? env : { ...env, NO_COLOR: '1' },
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    if (!existsSync(output)) return { passed: 0, failed: 1 };
    const results = JSON.parse(readFileSync(output, 'utf8'));
    process.stdout.write(`\n${slowest(results.testResults)}\n`);
    // A file that does not load has no failed test, but the run has failed; a skipped test proves nothing and counts as failed.
    const skipped = results.numPendingTests + results.numTodoTests;
    if (skipped > 0) process.stdout.write(`${skipped} tests were skipped; that counts as failed\n`);
    const failures = results.numFailedTests + skipped;
    return { passed: results.numPassedTests, failed: failures === 0 && status !== 0 ? 1 : failures };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Where the time went: files, in seconds of one of the workers. */
function slowest(files) {
  const times = files.map(({ name, startTime, endTime }) => ({ name: relative(root, name), seconds: (endTime - startTime) / 1000 }));
  const lines = times
    .toSorted((a, b) => b.seconds - a.seconds)
    .slice(0, 12)
    .map(({ name, seconds }) => `${seconds.toFixed(1).padStart(7)} s  ${name}`);
  return ['The slowest files:', ...lines].join('\n');
}

const bin = (path) => join(root, 'node_modules', path);

/** The static part, the same in `check` and `test`. */
export const CHECKS = [
  {
    name: 'format',
    args: [bin('oxfmt/bin/oxfmt'), '--check', 'packages', 'test', 'bench', 'examples', 'scripts', 'tsconfig.json', 'vitest.config.ts'],
  },
  { name: 'lint', args: [bin('oxlint/bin/oxlint'), '--deny-warnings'] },
  { name: 'imports', args: ['scripts/check-imports.mjs'] },
  { name: 'types', args: [bin('typescript/bin/tsc'), '-p', '.'] },
  { name: 'types of the web app', args: [bin('typescript/bin/tsc'), '-p', 'packages/web'] },
  { name: 'docs', args: ['scripts/check-docs.mjs'] },
  { name: 'words', args: ['scripts/check-words.mjs'] },
  { name: 'unused', args: [bin('knip/bin/knip.js')] },
  { name: 'used by tests only', args: [bin('knip/bin/knip.js'), '--production', '--include', 'files,exports'] },
];
