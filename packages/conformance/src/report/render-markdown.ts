import { LEVELS, levelOf } from '../check.ts';
import type { CheckResult, Conformance } from '../result.ts';

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
  const told = runs.flatMap(({ server, results }) => results.flatMap((result) => (isTold(result, level) ? [{ server, ...result }] : [])));
  if (told.length === 0) return [];
  const byReason = Map.groupBy(told, ({ server, why }) => `${server}: ${why}`);
  const lines = [...byReason].map(
    ([reason, of]) => `- ${of.map(({ check }) => `\`${check.id.slice(level.length + 1)}\``).join(', ')} – ${reason}`,
  );
  return ['', 'Known deviations, and what was not asked:', '', ...lines];
}

function isTold({ check, verdict }: CheckResult, level: string): boolean {
  return levelOf(check) === level && (verdict === 'deviates' || verdict === 'absent');
}
