import { LEVELS, levelOf } from '../check.ts';
import type { CheckResult, Conformance } from '../result.ts';

/** A line per check that did not simply pass, then a line per level; `all` has every check. Ends with a line end. */
export function renderTable({ server, url, results }: Conformance, { all = false } = {}): string {
  const shown = results.filter(({ verdict }) => all || verdict !== 'passed').map(line);
  const counts = tally(results).map(
    ({ level, passed, total, known, absent }) =>
      `${level.padEnd(12)} ${String(passed).padStart(3)} of ${total}${known > 0 ? `, ${known} known to deviate` : ''}${absent > 0 ? `, ${absent} not asked` : ''}`,
  );
  return `${[...shown, ...(shown.length > 0 ? [''] : []), `${server} at ${url}`, ...counts].join('\n')}\n`;
}

export interface LevelTally {
  readonly level: string;
  readonly passed: number;
  readonly known: number;
  /** Not offered, and so not asked. */
  readonly absent: number;
  /** Without those that are absent. */
  readonly total: number;
}

/** Levels that were asked for, in their order. */
export function tally(results: readonly CheckResult[]): readonly LevelTally[] {
  return LEVELS.map((level) => {
    const own = results.filter(({ check }) => levelOf(check) === level);
    const count = (...verdicts: readonly string[]): number => own.filter(({ verdict }) => verdicts.includes(verdict)).length;
    const absent = count('absent');
    return { level, passed: count('passed', 'surprises'), known: count('deviates'), absent, total: own.length - absent };
  }).filter(({ total, absent }) => total + absent > 0);
}

const MARK = { passed: 'ok  ', failed: 'FAIL', deviates: 'dev ', surprises: 'new ', absent: '–   ' } as const;

function line({ check, verdict, why }: CheckResult): string {
  const reason = why === undefined ? '' : `\n      ${why}`;
  return `${MARK[verdict]}  ${check.id}: ${check.title}${reason}`;
}
