import { readTestLog } from './read-test-log.ts';

/** The tests that decide about an instance in the shape of SWE-bench. */
export interface WantedTests {
  readonly failToPass: readonly string[];
  readonly passToPass: readonly string[];
}

export interface TestCount {
  readonly passed: number;
  readonly total: number;
}

export interface TestVerdict {
  readonly isSolved: boolean;
  readonly tests?: { readonly failToPass: TestCount; readonly passToPass: TestCount };
  /** Names the tests that did not pass. */
  readonly words: string;
}

const SHOWN = 10;

/**
 * By each of the wanted tests, where the log names any of them; else by the exit code. Other tests may fail: they may have failed before.
 * A log that names some of those that passed names all of them.
 */
export function judgeTests(log: string, exitCode: number, { failToPass, passToPass }: WantedTests): TestVerdict {
  const all = [...failToPass, ...passToPass];
  const results = readTestLog(log, new Set(all));
  const failed = all.filter((name) => results.get(name) === 'failed');
  const isNamed = all.some((name) => results.get(name) === 'passed');
  if (failed.length === 0 && !isNamed) return { isSolved: exitCode === 0, words: '' };
  const lost = isNamed ? all.filter((name) => results.get(name) !== 'passed') : failed;
  const count = (names: readonly string[]): TestCount => ({
    passed: names.filter((name) => results.get(name) === 'passed').length,
    total: names.length,
  });
  const more = lost.length > SHOWN ? ` and ${lost.length - SHOWN} more` : '';
  return {
    // -1: it took too long.
    isSolved: lost.length === 0 && exitCode !== -1,
    tests: { failToPass: count(failToPass), passToPass: count(passToPass) },
    words: lost.length === 0 ? '' : `${lost.length} of ${all.length} tests did not pass: ${lost.slice(0, SHOWN).join(', ')}${more}`,
  };
}
