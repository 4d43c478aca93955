import { LEVELS, levelOf, type Check, type Level } from '../check.ts';
import { NO_DEVIATIONS, type Deviations } from './deviations.ts';
import { CHECKS } from '../levels/index.ts';
import { greet } from './greet.ts';
import type { CheckResult, Conformance } from '../result.ts';
import { runChecks } from './run-checks.ts';
import { startScriptedModel } from '../model/scripted-model.ts';

export interface ConformOptions {
  readonly url: string;
  readonly key?: string;
  readonly levels?: readonly Level[];
  /** Only checks with one of these ids, or with one of these words in theirs. */
  readonly only?: readonly string[];
  readonly deviations?: Deviations;
  readonly parallel?: number;
  readonly patienceMs?: number;
  /** As the server is configured; default: what servers of this kind ship with. */
  readonly silenceSeconds?: number;
  readonly onResult?: (result: CheckResult) => void;
}

/** How long a command may print nothing before it is handed back. */
const SHIPPED_SILENCE_SECONDS = 10;

/**
 * Asks a running server everything that its clients rely on. It makes conversations there and removes them, and points the server's
 * settings at a scripted model of its own: use a server made for it. Rejects when the server does not answer at all.
 */
export async function conform(options: ConformOptions): Promise<Conformance> {
  const { url, key, patienceMs = 30_000, silenceSeconds = SHIPPED_SILENCE_SECONDS, parallel = 4 } = options;
  const model = await startScriptedModel();
  try {
    const target = { url, model, patienceMs, silenceSeconds, ...(key !== undefined && { key }) };
    const { name, offer } = await greet(target);
    const results = await runChecks(chosen(options), {
      target,
      offer,
      parallel,
      deviations: options.deviations ?? NO_DEVIATIONS,
      onResult: options.onResult ?? (() => {}),
    });
    return { url, server: options.deviations?.server || name, results };
  } finally {
    await model.close();
  }
}

function chosen({ levels = LEVELS, only }: ConformOptions): readonly Check[] {
  const isNamed = only && named(only);
  return CHECKS.filter((check) => levels.includes(levelOf(check)) && (!isNamed || isNamed(check)));
}

/** A whole id means that check alone, though others begin like it. */
function named(only: readonly string[]): (check: Check) => boolean {
  const ids = new Set(CHECKS.map(({ id }) => id));
  const words = only.filter((word) => !ids.has(word));
  return ({ id }) => only.includes(id) || words.some((word) => id.includes(word));
}
