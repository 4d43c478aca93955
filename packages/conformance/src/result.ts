import type { Check } from './check.ts';

/**
 * `deviates`: failed, and that is known and has a reason. `surprises`: known to fail, and passed. `absent`: not asked, because the
 * server does not offer what it is about; counted nowhere.
 */
export type Verdict = 'passed' | 'failed' | 'deviates' | 'surprises' | 'absent';

export interface CheckResult {
  readonly check: Check;
  readonly verdict: Verdict;
  readonly ms: number;
  /** Why it failed, in at most 200 characters and one line; of a known deviation its reason, of what is not offered what is missing. */
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
