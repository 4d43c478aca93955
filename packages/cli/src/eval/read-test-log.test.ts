import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { judgeTests } from './judge-tests.ts';
import { readTestLog } from './read-test-log.ts';

const logOf = (name: string) => readFileSync(new URL(`fixtures/${name}.log`, import.meta.url), 'utf8');

/** Each runner's own output of a few tests, and what it says of them. */
const LOGS: Readonly<Record<string, Readonly<Record<string, string | undefined>>>> = {
  pytest: {
    'test_sample.py::Shapes::test_area': 'passed',
    'test_sample.py::Shapes::test_volume': 'failed',
    'test_sample.py::Shapes::test_known': 'passed',
    'test_params.py::test_words[a b]': 'passed',
    'test_params.py::test_words[a': 'passed',
    'test_params.py::test_words[c - d]': 'failed',
    'test_params.py::test_error': 'failed',
  },
  'pytest-v': {
    'test_sample.py::Shapes::test_area': 'passed',
    'test_sample.py::Shapes::test_later': 'skipped',
    'test_params.py::test_words[a b]': 'passed',
    'test_params.py::test_words[a': 'passed',
    'test_params.py::test_words[c - d]': 'failed',
    'test_params.py::test_known': 'passed',
  },
  unittest: {
    'test_area (test_sample.Shapes)': 'passed',
    'test_edges (test_sample.Shapes.test_edges)': 'passed',
    'test_noisy (test_sample.Shapes)': 'passed',
    'test_later (test_sample.Shapes)': 'skipped',
    'test_breaks (test_sample.Shapes)': 'failed',
    'test_sample.Shapes.test_volume': 'failed',
    'test_known (test_sample.Shapes)': 'passed',
  },
  go: { TestAdds: 'passed', TestBreaks: 'failed', TestLater: 'skipped', 'TestParts/one_part': 'passed', 'TestParts/two': 'failed' },
  cargo: {
    'tests::adds': 'passed',
    'tests::breaks': 'failed',
    'tests::later': 'skipped',
    'tests::panics': 'passed',
    'tests::panics - should panic': 'passed',
    'src/lib.rs - two (line 1)': 'passed',
  },
  'node-tap': { 'numbers > adds': 'passed', 'numbers breaks # here': 'failed', 'numbers > later': 'skipped', 'stands alone': 'passed' },
  'node-spec': { 'numbers > adds': 'passed', 'breaks # here': 'failed', 'numbers > later': 'skipped', 'stands alone': 'passed' },
  jest: { 'numbers small adds': 'passed', 'numbers › breaks': 'failed', 'numbers > later': 'skipped', 'stands alone': 'passed' },
  mocha: { 'numbers adds': 'passed', 'numbers breaks': 'failed', 'numbers later': 'skipped' },
  vitest: { 'v.test.mjs > numbers > adds': 'passed', 'numbers > breaks': 'failed', later: 'skipped' },
  'vitest-tap': { 'v.test.mjs > numbers > adds': 'passed', 'v.test.mjs > numbers > breaks': 'failed' },
};

describe('the log of a test run', () => {
  it.each(Object.entries(LOGS))('EV930: of %s names each test with what came of it', (name, wanted) => {
    const tests = readTestLog(logOf(name), new Set(Object.keys(wanted)));
    expect(Object.fromEntries(Object.keys(wanted).map((test) => [test, tests.get(test)]))).toEqual(wanted);
  });

  it('EV930: that the tested program wrote itself is read within a multiple of its length, and only what is wanted of it is held', () => {
    const nested = Array.from({ length: 60 }, (_, depth) => ' '.repeat(depth) + 't'.repeat(1_900)).join('\n');
    const marked = Array.from({ length: 2_000 }, (_, index) => `${' '.repeat(80)}✓ test ${index}`).join('\n');
    expect(readTestLog(`${nested}\n${marked}\nother\n  ✓ wanted`, new Set(['other > wanted']))).toEqual(
      new Map([['other > wanted', 'passed']]),
    );
    const results = `a${'::'.repeat(300)}${' PASSED ('.repeat(100)}\n`;
    expect(readTestLog(`${results.repeat(2_000)}a.py::b PASSED (x) (y) [ 50%]`, new Set(['a.py::b']))).toEqual(
      new Map([['a.py::b', 'passed']]),
    );
  });
});

const WANTED = { failToPass: ['a.py::new'], passToPass: ['a.py::old', 'a.py::other'] };
const NEW = 'PASSED a.py::new\n';
const OLD = 'PASSED a.py::old\nPASSED a.py::other\n';

describe('an instance', () => {
  it('EV931: is solved when each of its tests passed, whatever else failed', () => {
    const verdict = judgeTests(`${NEW}${OLD}FAILED b.py::flaky - no`, 1, WANTED);
    expect(verdict).toMatchObject({ isSolved: true, tests: { failToPass: { passed: 1, total: 1 }, passToPass: { passed: 2, total: 2 } } });
  });

  it.each([
    ['one failed', `${OLD}FAILED a.py::new - no`, 1, '1 of 3 tests did not pass: a.py::new'],
    ['one failed, and the runner ended with 0', `${OLD}FAILED a.py::new - no`, 0, '1 of 3 tests did not pass: a.py::new'],
    ['one passed and failed', `${NEW}${OLD}ERROR a.py::new - at its end`, 1, '1 of 3 tests did not pass: a.py::new'],
    ['one was not run, and the runner ended with 0', `${NEW}PASSED a.py::old`, 0, '1 of 3 tests did not pass: a.py::other'],
    ['one was skipped', `${NEW}PASSED a.py::old\na.py::other SKIPPED (no)`, 0, '1 of 3 tests did not pass: a.py::other'],
    ['they took too long', `${NEW}${OLD}`, -1, ''],
  ])('EV931: is not solved when %s', (_, log, exitCode, words) => {
    expect(judgeTests(log, exitCode, WANTED)).toMatchObject({ isSolved: false, words });
  });

  it('EV931: is judged by the exit code where the log names none of its tests', () => {
    expect(judgeTests('3 passed in 0.1s', 0, WANTED)).toEqual({ isSolved: true, words: '' });
    expect(judgeTests('ImportError', 2, WANTED)).toEqual({ isSolved: false, words: '' });
  });
});
