import { FAILURES, type AttemptResult, type AttemptUse, type FailureKind } from './journal.ts';

/** An attempt as the report shows it; paths are relative to the report. */
export interface ReportedAttempt extends AttemptResult {
  readonly tags: readonly string[];
  readonly trajectory: string;
  readonly atif?: string;
}

export interface EvalReport {
  readonly dataset: string;
  readonly model: string;
  readonly totals: EvalTotals;
  readonly attempts: readonly ReportedAttempt[];
}

/** The sums over the attempts; dollars include attempts that were cut off or repeated. */
export interface EvalTotals extends AttemptUse {
  readonly tasks: number;
  /** With a solved attempt. */
  readonly tasksSolved: number;
  readonly attempts: number;
  readonly solved: number;
  /** Attempts that are still to be made: the run was interrupted, or its budget was used up. */
  readonly left: number;
  /** The chance that one of k attempts solves a task, by k, over tasks with so many attempts. */
  readonly passAt: Readonly<Record<string, number>>;
  readonly failures: Readonly<Partial<Record<FailureKind, number>>>;
}

export function evalTotals(attempts: readonly AttemptResult[], { left, usd }: { readonly left: number; readonly usd: number }): EvalTotals {
  const byTask = Object.values(Object.groupBy(attempts, ({ task }) => task)).map((list = []) => list);
  const sum = (of: (attempt: AttemptResult) => number): number => attempts.reduce((total, attempt) => total + of(attempt), 0);
  const failures = FAILURES.map((kind) => [kind, sum(({ failure }) => Number(failure === kind))] as const);
  return {
    tasks: byTask.length,
    tasksSolved: byTask.filter((list) => list.some(({ solved }) => solved)).length,
    attempts: attempts.length,
    solved: sum(({ solved }) => Number(solved)),
    left,
    passAt: passAt(byTask),
    usd,
    unpricedTokens: sum(({ use }) => use.unpricedTokens),
    promptTokens: sum(({ use }) => use.promptTokens),
    completionTokens: sum(({ use }) => use.completionTokens),
    steps: sum(({ use }) => use.steps),
    seconds: Math.round(sum(({ use }) => use.seconds) * 10) / 10,
    failures: Object.fromEntries(failures.filter(([, count]) => count > 0)),
  };
}

/** The unbiased estimate: of n attempts with c solved, 1 − C(n−c, k) / C(n, k), averaged over the tasks. */
function passAt(byTask: readonly (readonly AttemptResult[])[]): Record<string, number> {
  const most = Math.max(0, ...byTask.map((list) => list.length));
  const rows = Array.from({ length: most }, (_, index) => {
    const k = index + 1;
    const chances = byTask.filter((list) => list.length >= k).map((list) => chanceOf(list, k));
    return [String(k), round(chances.reduce((a, b) => a + b, 0) / chances.length)] as const;
  });
  return Object.fromEntries(rows);
}

function chanceOf(list: readonly AttemptResult[], k: number): number {
  const wrong = list.filter(({ solved }) => !solved).length;
  let allWrong = 1;
  for (let taken = 0; taken < k; taken++) allWrong *= Math.max(0, wrong - taken) / (list.length - taken);
  return 1 - allWrong;
}

const round = (value: number): number => Math.round(value * 10_000) / 10_000;
