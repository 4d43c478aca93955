// Runs named steps one after the other and counts them: a step is one check, or a whole test run with counts of its own.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { text } from 'node:stream/consumers';
import { root } from './setup.mjs';

const RECORDED_SECONDS = 10;

/** `steps`: [name, args for Node, vitest?]. Prints what it does, then `N passed, N failed`; returns whether all passed. */
export async function runSteps(steps, machine) {
  return report(await countSteps(steps, machine));
}

/** The same, and meanwhile the static checks in a process of their own: tests wait most of their time. What the checks print comes at the end. */
export async function runWithChecks(steps, machine) {
  const { node, env } = machine;
  const checks = spawn(node, ['scripts/static-checks.mjs'], { cwd: root, env, stdio: ['ignore', 'pipe', 'inherit'] });
  const printed = text(checks.stdout);
  const closed = once(checks, 'close');
  const counted = await countSteps(steps, machine);
  await closed;
  const lines = (await printed).trimEnd().split('\n');
  const [, passed, failed] = (lines.pop() ?? '').match(/^(\d+) passed, (\d+) failed$/) ?? [undefined, 0, 1];
  const times = lines.pop() ?? '';
  process.stdout.write(`${lines.join('\n')}\n`);
  return report({ passed: counted.passed + Number(passed), failed: counted.failed + Number(failed), times: [times, ...counted.times] });
}

function report({ passed, failed, times }) {
  process.stdout.write(`\n${times.join(' · ')}\n${passed} passed, ${failed} failed\n`);
  return failed === 0;
}

/** Tests wait for what only the package manager of the system has; builds and checks need nothing of it. */
async function countSteps(steps, { node, env, packages }) {
  let passed = 0;
  let failed = 0;
  const times = [];
  for (const { name, args, tests, record } of steps) {
    if (tests) await packages;
    process.stdout.write(`\n── ${name}\n`);
    const started = Date.now();
    const result = tests ? runTests(args, { node, env, record }) : runCheck(args, { node, env });
    passed += result.passed;
    failed += result.failed;
    times.push(`${name} ${((Date.now() - started) / 1000).toFixed(1)} s`);
  }
  return { passed, failed, times };
}

function runCheck(args, { node, env }) {
  const { status } = spawnSync(node, args, { cwd: root, env, stdio: ['ignore', 'inherit', 'inherit'] });
  return status === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
}

function runTests(args, { node, env, record }) {
  const folder = mkdtempSync(join(tmpdir(), 'tendon-test-'));
  const output = join(folder, 'results.json');
  try {
    const vitest = [
      join(root, 'node_modules/vitest/vitest.mjs'),
      'run',
      ...args,
      '--reporter=dot',
      '--reporter=json',
      `--outputFile.json=${output}`,
    ];
    const { status } = spawnSync(node, vitest, {
      cwd: root,
      env: process.stdout.isTTY ? env : { ...env, NO_COLOR: '1' },
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    if (!existsSync(output)) return { passed: 0, failed: 1 };
    const results = JSON.parse(readFileSync(output, 'utf8'));
    const times = timesOf(results.testResults);
    process.stdout.write(`\n${slowest(times)}\n`);
    if (record) recordTimes(times);
    // A file that does not load has no failed test, but the run has failed; a skipped test proves nothing and counts as failed.
    const skipped = results.numPendingTests + results.numTodoTests;
    if (skipped > 0) process.stdout.write(`${skipped} tests were skipped; that counts as failed\n`);
    const failures = results.numFailedTests + skipped;
    return { passed: results.numPassedTests, failed: failures === 0 && status !== 0 ? 1 : failures };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Files, the longest first, in seconds of one of the workers. */
function timesOf(files) {
  const times = files.map(({ name, startTime, endTime }) => ({ name: relative(root, name), seconds: (endTime - startTime) / 1000 }));
  return times.toSorted((a, b) => b.seconds - a.seconds);
}

/** Those that are worth an order. What is known of files that were not run stays. */
function recordTimes(times) {
  const path = join(root, 'test/seconds-of-files.json');
  const run = new Set(times.map(({ name }) => name));
  const known = Object.entries(JSON.parse(readFileSync(path, 'utf8')))
    .filter(([name]) => !run.has(name) && existsSync(join(root, name)))
    .map(([name, seconds]) => ({ name, seconds }));
  const all = [...known, ...times].toSorted((a, b) => b.seconds - a.seconds);
  const worth = all.filter(({ seconds }) => seconds >= RECORDED_SECONDS).map(({ name, seconds }) => [name, Math.round(seconds)]);
  writeFileSync(path, `${JSON.stringify(Object.fromEntries(worth), null, 2)}\n`);
}

/** Where the time went. */
function slowest(times) {
  const lines = times.slice(0, 12).map(({ name, seconds }) => `${seconds.toFixed(1).padStart(7)} s  ${name}`);
  return ['The slowest files:', ...lines].join('\n');
}

const bin = (path) => join(root, 'node_modules', path);

/** What a check has found out about files that have not changed since. */
const cached = (name) => join(root, '.cache', name);
const types = (project, name) => [
  bin('typescript/bin/tsc'),
  '-p',
  project,
  '--incremental',
  '--tsBuildInfoFile',
  cached(`${name}.tsbuildinfo`),
];
const knip = (name) => [bin('knip/bin/knip.js'), '--cache', '--cache-location', cached(name)];

/** The static part, the same in `check` and `test`. */
export const CHECKS = [
  {
    name: 'format',
    args: [bin('oxfmt/bin/oxfmt'), '--check', 'packages', 'test', 'bench', 'examples', 'scripts', 'tsconfig.json', 'vitest.config.ts'],
  },
  { name: 'lint', args: [bin('oxlint/bin/oxlint'), '--deny-warnings'] },
  { name: 'imports', args: ['scripts/check-imports.mjs'] },
  { name: 'sizes', args: ['scripts/size.mjs', 'check'] },
  { name: 'types', args: types('.', 'types') },
  { name: 'types of the web app', args: types('packages/web', 'types-of-web') },
  { name: 'docs', args: ['scripts/check-docs.mjs'] },
  { name: 'words', args: ['scripts/check-words.mjs'] },
  { name: 'unused', args: knip('unused') },
  { name: 'used by tests only', args: [...knip('used-by-tests-only'), '--production', '--include', 'files,exports'] },
];
