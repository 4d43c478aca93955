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

/** Runs of removed lines followed by added ones: the first of each are compared word by word. */
function markPairs(lines: DiffLine[]): DiffLine[] {
  const marked = [...lines];
  for (let index = 0; index + 1 < lines.length; index += 1) {
    const [removed, added] = [lines[index]!, lines[index + 1]!];
    if (removed.line !== 'removed' || added.line !== 'added') continue;
    const start = lines.findLastIndex((line, at) => at <= index && line.line !== 'removed') + 1;
    const first = lines[start]!;
    const marks = wordMarks(first.text, added.text);
    marked[start] = { ...first, marks: marks.removed };
    marked[index + 1] = { ...added, marks: marks.added };
  }
  return marked;
}

function wordMarks(before: string, after: string): { readonly removed: readonly Range[]; readonly added: readonly Range[] } {
  const removed: Range[] = [];
  const added: Range[] = [];
  let [oldAt, newAt, same] = [0, 0, 0];
  for (const part of diffWordsWithSpace(before, after)) {
    const length = part.value.length;
    if (part.removed) removed.push({ from: oldAt, to: oldAt + length });
    if (part.added) added.push({ from: newAt, to: newAt + length });
    if (!part.added && !part.removed) same += part.value.trim().length;
    if (!part.added) oldAt += length;
    if (!part.removed) newAt += length;
  }
  // Lines that share little are two lines, not one that changed.
  return same * 3 < Math.max(before.trim().length, after.trim().length) ? { removed: [], added: [] } : { removed, added };
}

function countLines(text: string): number {
  return text === '' ? 0 : text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
}
