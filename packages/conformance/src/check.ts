import type { Target } from './target/target.ts';

/** What a server can be drop-in for; each level can be asked for alone. */
export const LEVELS = ['ws-readme', 'ws-legacy', 'v0-socketio', 'v0-rest', 'events-doc', 'resilience'] as const;
export type Level = (typeof LEVELS)[number];

/** One thing that a client of a generation relies on, asked of a server from outside. */
export interface Check {
  /** `<level>/<what>`: stable, named in files of known deviations. */
  readonly id: string;
  /** What holds, as a sentence about the server. */
  readonly title: string;
  /** Rules of `docs/spec` and rows of its checklist. */
  readonly cites: readonly string[];
  /** A route (`/api/keys`) without which it is not offered, or the `--key` of the run. */
  readonly needs?: string;
  /** It changes what other checks see (settings, secrets): nothing else runs beside it. */
  readonly isAlone?: boolean;
  /** Checks with the same word run one after another and use what the first of them opened through `target.shared`. */
  readonly shares?: string;
  /** Rejects (with an assertion's words) when it does not hold. What it opened through `target` is closed for it. */
  readonly run: (target: Target) => Promise<void>;
}

export function levelOf(check: Check): Level {
  return check.id.slice(0, check.id.indexOf('/')) as Level;
}

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
