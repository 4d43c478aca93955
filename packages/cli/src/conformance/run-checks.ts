import type { Check } from './check.ts';
import { deviationOf, type Deviations } from './deviations.ts';
import { openTarget, type TargetOptions } from './open-target.ts';
import type { CheckResult } from './result.ts';

export interface RunOptions {
  readonly target: TargetOptions;
  readonly deviations: Deviations;
  /** Checks at the same time. */
  readonly parallel: number;
  readonly onResult: (result: CheckResult) => void;
}

/** Runs them, those that need the server to themselves after the others; the results are in the order of `checks`. Never rejects. */
export async function runChecks(checks: readonly Check[], options: RunOptions): Promise<readonly CheckResult[]> {
  const results = new Map<Check, CheckResult>();
  const queue = checks.filter(({ isAlone }) => !isAlone);
  const worker = async (): Promise<void> => {
    for (let check = queue.shift(); check; check = queue.shift()) results.set(check, await runCheck(check, options));
  };
  await Promise.all(Array.from({ length: options.parallel }, worker));
  for (const check of checks.filter(({ isAlone }) => isAlone)) results.set(check, await runCheck(check, options));
  return checks.map((check) => results.get(check)!);
}

async function runCheck(check: Check, { target: targetOptions, deviations, onResult }: RunOptions): Promise<CheckResult> {
  const target = openTarget(targetOptions);
  const started = performance.now();
  const known = deviationOf(deviations, check.id);
  let failure: string | undefined;
  try {
    await withDeadline(check.run(target), 4 * targetOptions.patienceMs);
  } catch (cause) {
    failure = cause instanceof Error ? cause.message : String(cause);
  }
  await target.close().catch(() => {}); // a server that broke has been told of by the check itself
  const ms = performance.now() - started;
  const result = { check, ms, ...verdictOf(failure, known) };
  onResult(result);
  return result;
}

function verdictOf(failure: string | undefined, known: string | undefined): Pick<CheckResult, 'verdict' | 'why'> {
  if (failure === undefined) return known === undefined ? { verdict: 'passed' } : { verdict: 'surprises', why: known };
  return known === undefined ? { verdict: 'failed', why: failure } : { verdict: 'deviates', why: known };
}

async function withDeadline(running: Promise<void>, ms: number): Promise<void> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`it did not end within ${ms / 1000} s`)), ms);
  try {
    await Promise.race([running, promise]);
  } finally {
    clearTimeout(timer);
  }
}
