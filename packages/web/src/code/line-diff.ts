import { diffWordsWithSpace, parsePatch, structuredPatch } from 'diff';

/** A range of characters, `to` exclusive. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

export interface DiffLine {
  readonly line: 'same' | 'added' | 'removed';
  readonly text: string;
  /** Counted from 1. */
  readonly oldNumber?: number;
  readonly newNumber?: number;
  /** What changed inside the line. */
  readonly marks: readonly Range[];
}

export type DiffRow = DiffLine | { readonly line: 'gap'; readonly count: number };

export interface LineDiff {
  readonly rows: readonly DiffRow[];
  readonly added: number;
  readonly removed: number;
  /** Too large to compare line by line. */
  readonly isCut: boolean;
}

const MAX_CHARACTERS = 400_000;
const CONTEXT = 3;

/** What differs between two texts, with three lines around each change. */
export function lineDiff(before: string, after: string): LineDiff {
  if (before.length + after.length > MAX_CHARACTERS)
    return { rows: [], added: countLines(after), removed: countLines(before), isCut: true };
  const patch = structuredPatch('', '', before, after, '', '', { context: CONTEXT });
  return fromHunks(patch.hunks);
}

/** The same from a unified diff. */
export function unifiedDiff(text: string): LineDiff {
  try {
    return fromHunks(parsePatch(text).flatMap((patch) => patch.hunks));
  } catch {
    return { rows: [], added: 0, removed: 0, isCut: true };
  }
}

interface Hunk {
  readonly oldStart: number;
  readonly newStart: number;
  readonly lines: readonly string[];
}

function fromHunks(hunks: readonly Hunk[]): LineDiff {
  const rows: DiffRow[] = [];
  let lastOld = 0;
  for (const hunk of hunks) {
    const skipped = hunk.oldStart - lastOld - 1;
    if (skipped > 0) rows.push({ line: 'gap', count: skipped });
    const lines = linesOf(hunk);
    rows.push(...markPairs(lines));
    lastOld = lines.findLast((line) => line.oldNumber !== undefined)?.oldNumber ?? lastOld;
  }
  const number = (kind: DiffRow['line']) => rows.filter((row) => row.line === kind).length;
  return { rows, added: number('added'), removed: number('removed'), isCut: false };
}

function linesOf(hunk: Hunk): DiffLine[] {
  let oldNumber = hunk.oldStart;
  let newNumber = hunk.newStart;
  return hunk.lines
    .filter((line) => !line.startsWith('\\'))
    .map((line): DiffLine => {
      const text = line.slice(1);
      if (line.startsWith('+')) return { line: 'added', text, newNumber: newNumber++, marks: [] };
      if (line.startsWith('-')) return { line: 'removed', text, oldNumber: oldNumber++, marks: [] };
      return { line: 'same', text, oldNumber: oldNumber++, newNumber: newNumber++, marks: [] };
    });
}

const MAX_PAIRED = 24;

/** In each run of removed lines followed by added ones, a removed line is compared word by word with the added line most like it. */
function markPairs(lines: readonly DiffLine[]): readonly DiffLine[] {
  const marked = [...lines];
  for (let start = 0; start < lines.length; start += 1) {
    if (lines[start]!.line !== 'removed' || lines[start - 1]?.line === 'removed') continue;
    const removed = runOf(lines, start, 'removed');
    const added = runOf(lines, start + removed.length, 'added');
    if (removed.length * added.length > MAX_PAIRED ** 2) continue;
    const free = new Set(added);
    for (const index of removed) {
      const pair = mostLike(lines[index]!, free, lines);
      if (!pair) continue;
      free.delete(pair.index);
      marked[index] = { ...lines[index]!, marks: pair.removed };
      marked[pair.index] = { ...lines[pair.index]!, marks: pair.added };
    }
  }
  return marked;
}

function runOf(lines: readonly DiffLine[], from: number, kind: DiffLine['line']): readonly number[] {
  const run: number[] = [];
  for (let index = from; lines[index]?.line === kind; index += 1) run.push(index);
  return run;
}

interface WordMarks {
  readonly removed: readonly Range[];
  readonly added: readonly Range[];
  /** How much of the longer line both share, 0…1. */
  readonly likeness: number;
}

function mostLike(
  line: DiffLine,
  candidates: ReadonlySet<number>,
  lines: readonly DiffLine[],
): (WordMarks & { readonly index: number }) | undefined {
  let best: (WordMarks & { readonly index: number }) | undefined;
  for (const index of candidates) {
    const marks = wordMarks(line.text, lines[index]!.text);
    // Lines that share little are two lines, not one that changed.
    if (marks.likeness > Math.max(0.4, best?.likeness ?? 0)) best = { ...marks, index };
  }
  return best;
}

function wordMarks(before: string, after: string): WordMarks {
  const removed: Range[] = [];
  const added: Range[] = [];
  let [oldAt, newAt, same] = [0, 0, 0];
  for (const part of diffWordsWithSpace(before, after)) {
    const { length } = part.value;
    if (part.removed) removed.push({ from: oldAt, to: oldAt + length });
    if (part.added) added.push({ from: newAt, to: newAt + length });
    if (!part.added && !part.removed) same += part.value.trim().length;
    if (!part.added) oldAt += length;
    if (!part.removed) newAt += length;
  }
  return { removed, added, likeness: same / Math.max(1, before.trim().length, after.trim().length) };
}

function countLines(text: string): number {
  return text === '' ? 0 : text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
}
