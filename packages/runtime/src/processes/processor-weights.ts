import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** How many processors a sandbox takes on average before its weight falls, and how few before it rises again. */
const BUSY_PROCESSORS = 0.75;
const CALM_PROCESSORS = 0.25;
/** What was used so long ago counts for half: one processor is too much for four seconds, two for a second and a half. */
const HALF_LIFE_MS = 2000;
const LOOK_MS = 1000;

/** By version of control groups, each in its own unit; the full one is the kernel's usual. */
const WEIGHTS = [
  { file: 'cpu.shares', full: 1024, low: 64 },
  { file: 'cpu.weight', full: 100, low: 6 },
] as const;
/** Where a group counts the processor time that everything in it has used. */
const COUNTS = [
  { file: 'cpuacct.usage', pattern: /^(\d+)/, perMs: 1e6 },
  { file: 'cpu.stat', pattern: /^usage_usec (\d+)/m, perMs: 1e3 },
] as const;

interface Watched {
  readonly weight: { readonly path: string; readonly full: number; readonly low: number };
  readonly usedMs: () => number | undefined;
  /** What it had used when it was last looked at. */
  last: { readonly at: number; readonly usedMs: number };
  /** Processors that it takes, on average. */
  average: number;
  /** Unknown at first: an earlier server may have lowered it. */
  isLow: boolean | undefined;
}

/**
 * The weights of this host's sandboxes in the competition for its processors: full for one that rests or works now and then, low for
 * one that takes all it can. Weights count only where several want the same processor, so a busy sandbox alone loses nothing.
 *
 * Owns one timer while at least one sandbox is watched, and the weight of each.
 *
 * PWE1  A group that no longer exists, or that this process may not write, is passed over: nothing here throws.
 * PWE2  A weight is written only when it changes.
 */
export class ProcessorWeights {
  readonly #now: () => number;
  readonly #watched = new Set<Watched>();
  #timer: NodeJS.Timeout | undefined;

  /** `now`: milliseconds of a clock that only goes forward. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** From now on, until what it gives is called. `groups`: the outer ones of a sandbox; nothing is done where they count or weigh nothing. */
  watch(groups: readonly string[]): () => void {
    const weight = findWeight(groups);
    const usedMs = findCount(groups);
    if (weight === undefined || usedMs === undefined) return () => {};
    const watched: Watched = { weight, usedMs, last: { at: this.#now(), usedMs: usedMs() ?? 0 }, average: 0, isLow: undefined };
    this.#watched.add(watched);
    this.#timer ??= setInterval(() => this.look(), LOOK_MS).unref();
    return () => {
      this.#watched.delete(watched);
      if (this.#watched.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
  }

  /** @internal */
  look(): void {
    for (const watched of this.#watched) weigh(watched, this.#now());
  }
}

/** These files are the kernel's own: reading them waits for no disk. */
function weigh(watched: Watched, at: number): void {
  const usedMs = watched.usedMs();
  const { last, weight } = watched;
  if (usedMs === undefined || at <= last.at) return;
  const elapsed = at - last.at;
  const remains = 0.5 ** (elapsed / HALF_LIFE_MS);
  watched.average = watched.average * remains + ((usedMs - last.usedMs) / elapsed) * (1 - remains);
  watched.last = { at, usedMs };
  const isLow = watched.average > (watched.isLow ? CALM_PROCESSORS : BUSY_PROCESSORS);
  if (isLow === watched.isLow) return;
  watched.isLow = isLow;
  try {
    writeFileSync(weight.path, String(isLow ? weight.low : weight.full));
  } catch {
    // Gone, or another's to write.
  }
}

function findWeight(groups: readonly string[]): Watched['weight'] | undefined {
  const candidates = groups.flatMap((group) => WEIGHTS.map(({ file, ...weights }) => ({ path: join(group, file), ...weights })));
  return candidates.find(({ path }) => existsSync(path));
}

function findCount(groups: readonly string[]): Watched['usedMs'] | undefined {
  const candidates = groups.flatMap((group) =>
    COUNTS.map(({ file, pattern, perMs }) => (): number | undefined => {
      const count = pattern.exec(textOf(join(group, file)))?.[1];
      return count === undefined ? undefined : Number(count) / perMs;
    }),
  );
  return candidates.find((count) => count() !== undefined);
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // of another version, or removed meanwhile
  }
}
