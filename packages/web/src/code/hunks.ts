import type { DiffLine, LineDiff } from './line-diff.ts';

/** Lines, counted from 1; with a `count` of 0 they stand before `start`. */
export interface LineSpan {
  readonly start: number;
  readonly count: number;
}

export interface Hunk {
  readonly lines: readonly DiffLine[];
  /** Unchanged lines before it. */
  readonly skipped: number;
  readonly old: LineSpan;
  readonly new: LineSpan;
}

/** The parts of a difference between which nothing changed. */
export function hunksOf({ rows }: LineDiff): readonly Hunk[] {
  const hunks: Hunk[] = [];
  let lines: DiffLine[] = [];
  let skipped = 0;
  const close = (): void => {
    const before = hunks.at(-1);
    if (lines.length > 0) {
      hunks.push({
        lines,
        skipped,
        old: spanOf(lines, 'oldNumber', skipped, before?.old),
        new: spanOf(lines, 'newNumber', skipped, before?.new),
      });
    }
    lines = [];
  };
  for (const row of rows) {
    if (row.line !== 'gap') lines.push(row);
    else {
      close();
      skipped = row.count;
    }
  }
  close();
  return hunks;
}

function spanOf(lines: readonly DiffLine[], side: 'oldNumber' | 'newNumber', skipped: number, before: LineSpan | undefined): LineSpan {
  const own = lines.filter((line) => line[side] !== undefined);
  const next = (before ? before.start + before.count : 1) + skipped;
  return { start: own[0]?.[side] ?? next, count: own.length };
}

/** The two sides of a hunk, row by row: what was removed stands beside what came in its place. */
export function pairLines(lines: readonly DiffLine[]): readonly (readonly [old: DiffLine | undefined, now: DiffLine | undefined])[] {
  const pairs: (readonly [DiffLine | undefined, DiffLine | undefined])[] = [];
  for (let at = 0; at < lines.length;) {
    if (lines[at]!.line === 'same') {
      pairs.push([lines[at], lines[at]]);
      at += 1;
      continue;
    }
    const removed = runOf(lines, at, 'removed');
    const added = runOf(lines, at + removed.length, 'added');
    for (let row = 0; row < Math.max(removed.length, added.length); row += 1) pairs.push([removed[row], added[row]]);
    at += removed.length + added.length;
  }
  return pairs;
}

function runOf(lines: readonly DiffLine[], from: number, kind: DiffLine['line']): readonly DiffLine[] {
  const end = lines.findIndex((line, index) => index >= from && line.line !== kind);
  return lines.slice(from, end < 0 ? lines.length : end);
}
