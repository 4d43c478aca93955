import { LEVELS, levelOf, type CheckResult, type Conformance } from '../check.ts';

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

/** An SVG of one line, "conformance 120 of 120". */
export function renderBadge({ results }: Conformance): string {
  const passed = results.filter(({ verdict }) => verdict === 'passed' || verdict === 'surprises').length;
  const asked = results.filter(({ verdict }) => verdict !== 'absent').length;
  const text = `${passed} of ${asked}`;
  const [left, right] = [88, 16 + text.length * 7];
  const colour = passed === asked ? '#2e7d32' : '#a15c00';
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="20" role="img" aria-label="conformance: ${text}">
<rect width="${left + right}" height="20" rx="3" fill="#444"/><rect x="${left}" width="${right}" height="20" rx="3" fill="${colour}"/>
<g fill="#fff" font-family="sans-serif" font-size="12"><text x="8" y="14">conformance</text><text x="${left + 8}" y="14">${text}</text></g>
</svg>
`;
}

/** For machines; stable names. Ends with a line end. */
export function renderJson(conformance: Conformance): string {
  const { server, url, results } = conformance;
  const checks = results.map(({ check: { id, title, cites }, verdict, ms, why }) => ({
    id,
    title,
    cites,
    verdict,
    ms: Math.round(ms),
    ...(why && { why }),
  }));
  return `${JSON.stringify({ server, url, levels: tally(results), checks }, null, 2)}\n`;
}

const WORD = { passed: 'yes', failed: '**no**', deviates: 'no', surprises: 'yes', absent: '–' } as const;

/** A table per level, a column per server; reasons of deviations under it. All runs have the same checks in the same order. */
export function renderMarkdown(runs: readonly Conformance[]): string {
  const first = runs[0]?.results ?? [];
  return LEVELS.filter((level) => first.some(({ check }) => levelOf(check) === level))
    .map((level) => {
      const rows = first.flatMap(({ check }, index) => {
        if (levelOf(check) !== level) return [];
        const verdicts = runs.map(({ results }) => WORD[results[index]!.verdict]);
        return [`| \`${check.id.slice(level.length + 1)}\` | ${check.title} | ${check.cites.join(', ')} | ${verdicts.join(' | ')} |`];
      });
      const names = runs.map(({ server }) => server);
      const head = [`| check | what holds | cites | ${names.join(' | ')} |`, `|---|---|---|${'---|'.repeat(names.length)}`];
      return [`## ${level}`, ...head, ...rows, ...reasons(runs, level)].join('\n');
    })
    .join('\n\n');
}

function reasons(runs: readonly Conformance[], level: string): readonly string[] {
  const noted = runs.flatMap(({ server, results }) => results.flatMap((result) => (isNoted(result, level) ? [{ server, ...result }] : [])));
  if (noted.length === 0) return [];
  const byReason = Map.groupBy(noted, ({ server, why }) => `${server}: ${why}`);
  const lines = [...byReason].map(
    ([reason, of]) => `- ${of.map(({ check }) => `\`${check.id.slice(level.length + 1)}\``).join(', ')} – ${reason}`,
  );
  return ['', 'Known deviations, and what was not asked:', '', ...lines];
}

function isNoted({ check, verdict }: CheckResult, level: string): boolean {
  return levelOf(check) === level && (verdict === 'deviates' || verdict === 'absent');
}
