import type { Check, CheckResult } from '../check.ts';
import { deviationOf, type Deviations } from './deviations.ts';
import { openTarget, type OpenTarget, type TargetOptions } from '../target/open-target.ts';
import type { ServerJson, Target } from '../target/target.ts';

export interface RunOptions {
  readonly target: TargetOptions;
  readonly offer: Offer;
  readonly deviations: Deviations;
  /** Checks at the same time. */
  readonly parallel: number;
  readonly onResult: (result: CheckResult) => void;
}

const MAX_WHY = 200;
/** So many checks in a row for which nothing came in time, and the server counts as gone. */
const MAX_SLOW = 12;

/**
 * Runs them, those that need the server to themselves after the others; the results are in the order of `checks`. Never rejects.
 * When the server does not answer any more, what is left fails at once.
 */
export async function runChecks(checks: readonly Check[], options: RunOptions): Promise<readonly CheckResult[]> {
  const results = new Map<Check, CheckResult>();
  const life = new Life(options.target);
  const runGroup = async (group: readonly Check[]): Promise<void> => {
    const shared = new Shared(options.target);
    for (const check of group) {
      const result = { check, ...(await runCheck(check, { ...options, shared }, life)) };
      results.set(check, result);
      options.onResult(result);
    }
    await shared.close();
  };
  const queue = groupsOf(checks.filter(({ isAlone }) => !isAlone));
  const worker = async (): Promise<void> => {
    for (let group = queue.shift(); group; group = queue.shift()) await runGroup(group);
  };
  await Promise.all(Array.from({ length: options.parallel }, worker));
  for (const check of checks.filter(({ isAlone }) => isAlone)) await runGroup([check]);
  return checks.map((check) => results.get(check)!);
}

/** Checks that share something, and each of the others alone; the largest group first, which takes longest. */
function groupsOf(checks: readonly Check[]): Check[][] {
  const groups = Map.groupBy(checks, ({ id, shares }) => shares ?? id);
  return [...groups.values()].toSorted((a, b) => b.length - a.length);
}

type Outcome = Omit<CheckResult, 'check'>;

async function runCheck(check: Check, options: RunOptions & { readonly shared: Shared }, life: Life): Promise<Outcome> {
  const missing = options.offer.missing(check);
  if (missing !== undefined) return { verdict: 'absent', ms: 0, why: missing };
  const started = performance.now();
  const failure = life.isOver ? 'not asked: the server does not answer any more' : await failureOf(check, options.target, options.shared);
  const ms = performance.now() - started;
  if (failure === undefined) life.sign();
  else {
    await options.shared.close();
    await life.doubt(ms >= options.target.timeoutMs);
  }
  return { ms, ...verdictOf(failure, deviationOf(options.deviations, check.id)) };
}

async function failureOf(check: Check, options: TargetOptions, shared: Shared): Promise<string | undefined> {
  const target = openTarget(options, shared.use);
  try {
    await endedWithin(4 * options.timeoutMs, check.run(target));
    return undefined;
  } catch (cause) {
    return wordsOf(cause);
  } finally {
    await target.close().catch(() => {}); // the check itself has reported a server that broke
  }
}

function verdictOf(failure: string | undefined, known: string | undefined): Pick<CheckResult, 'verdict' | 'why'> {
  if (failure === undefined) return known === undefined ? { verdict: 'passed' } : { verdict: 'surprises', why: known };
  return known === undefined ? { verdict: 'failed', why: failure } : { verdict: 'deviates', why: known };
}

/** One line, with the cause that `fetch` keeps to itself. */
function wordsOf(error: unknown): string {
  const { message, cause } = error instanceof Error ? error : { message: String(error), cause: undefined };
  const words = cause instanceof Error ? `${message}: ${cause.message || String((cause as NodeJS.ErrnoException).code)}` : message;
  const line = words.replaceAll(/\s+/g, ' ').trim();
  return line.length > MAX_WHY ? `${line.slice(0, MAX_WHY)}…` : line;
}

/** What checks that share something have opened. Owns the target through which they opened it. */
class Shared {
  readonly #options: TargetOptions;
  #target: OpenTarget | undefined;
  #opened: Promise<unknown> | undefined;

  constructor(options: TargetOptions) {
    this.#options = options;
  }

  /** All callers use one kind of thing: the checks that share have one `open`. */
  readonly use: Target['shared'] = <T>(open: (target: Target) => Promise<T>): Promise<T> => {
    this.#target ??= openTarget(this.#options);
    this.#opened ??= open(this.#target);
    return this.#opened as Promise<T>;
  };

  /** The next caller opens anew. */
  async close(): Promise<void> {
    const target = this.#target;
    this.#target = this.#opened = undefined;
    await target?.close();
  }
}

/** Whether the server is there at all: asked after a failure, so that one that has gone or hangs is not waited for by every check. */
class Life {
  readonly #options: TargetOptions;
  #slow = 0;
  isOver = false;

  constructor(options: TargetOptions) {
    this.#options = options;
  }

  /** Something went as it should. */
  sign(): void {
    this.#slow = 0;
  }

  async doubt(wasSlow: boolean): Promise<void> {
    if (this.isOver) return;
    this.#slow = wasSlow ? this.#slow + 1 : this.#slow;
    const target = openTarget(this.#options);
    const answers = (): Promise<boolean> =>
      target.ask('GET', '/alive').then(
        () => true,
        () => false,
      );
    // Twice: one that is busy may miss the first.
    this.isOver = this.#slow >= MAX_SLOW || !((await answers()) || (await answers()));
  }
}

async function endedWithin(ms: number, running: Promise<void>): Promise<void> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`it did not end within ${ms / 1000} s`)), ms);
  try {
    await Promise.race([running, promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** What a server has of the things that only some have. */
export interface Offer {
  /** What this check needs and the server has not, in words. */
  missing(check: Check): string | undefined;
}

/** By the paths of its OpenAPI document, where it has one: without one everything is asked. */
export function offerOf(openApi: Partial<ServerJson>, hasKey: boolean): Offer {
  const paths = openApi.paths && new Set(Object.keys(openApi.paths).map(nameless));
  return {
    missing({ needs }) {
      if (needs === undefined) return undefined;
      if (needs === 'key') return hasKey ? undefined : 'not asked: it is about a server with a key, and the run has no --key';
      return !paths || paths.has(nameless(needs)) ? undefined : `not offered: there is no route ${needs}`;
    },
  };
}

/** `/a/{id}/b` however the parameter is called. */
function nameless(path: string): string {
  return path.replaceAll(/\{[^}]*\}/g, '{}');
}
