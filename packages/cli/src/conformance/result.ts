import type { Check } from './check.ts';

/** `deviates`: failed, and that is known and has a reason. `surprises`: known to fail, and passed. */
export type Verdict = 'passed' | 'failed' | 'deviates' | 'surprises';

export interface CheckResult {
  readonly check: Check;
  readonly verdict: Verdict;
  readonly ms: number;
  /** Why it failed; of a known deviation its reason. */
  readonly why?: string;
}

export interface Conformance {
  readonly url: string;
  /** What the server calls itself, where it says. */
  readonly server: string;
  readonly results: readonly CheckResult[];
}

export function hasFailed({ results }: Conformance): boolean {
  return results.some(({ verdict }) => verdict === 'failed');
}
