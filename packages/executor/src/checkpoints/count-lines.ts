import { diffArrays } from 'diff';
import type { CheckpointStore } from './checkpoint-store.ts';
import type { TreeEntry } from './tree.ts';

export interface LineCount {
  readonly added: number;
  readonly removed: number;
}

const MAX_BYTES = 512 * 1024;
/** Of all comparisons of one request together; the executor does nothing else meanwhile. */
const BUDGET_MS = 400;
const MAX_EDITS = 4000;

/** Counts the lines that came and went between two entries; nothing for what is no text, too large, or comes when the time is spent. */
export function createLineCounter(
  store: Pick<CheckpointStore, 'content'>,
): (now: TreeEntry | undefined, then: TreeEntry | undefined) => LineCount | undefined {
  const end = performance.now() + BUDGET_MS;
  return (now, then) => {
    if (performance.now() > end) return undefined;
    const after = linesOf(store, now);
    const before = linesOf(store, then);
    if (!after || !before) return undefined;
    return countLines(before, after, end);
  };
}

function countLines(before: readonly string[], after: readonly string[], end: number): LineCount | undefined {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let same = 0;
  while (same < Math.min(before.length, after.length) - start && before.at(-1 - same) === after.at(-1 - same)) same += 1;
  const [old, now] = [before, after].map((lines) => lines.slice(start, lines.length - same)) as [string[], string[]];
  if (old.length === 0 || now.length === 0) return { added: now.length, removed: old.length };
  const timeout = Math.max(1, end - performance.now());
  const parts = diffArrays(old, now, { maxEditLength: MAX_EDITS, timeout });
  if (!parts) return undefined;
  const sum = (kind: 'added' | 'removed'): number => parts.reduce((total, part) => (part[kind] ? total + part.count : total), 0);
  return { added: sum('added'), removed: sum('removed') };
}

/** None for an entry that is not there; `undefined` where lines mean nothing. */
function linesOf(store: Pick<CheckpointStore, 'content'>, entry: TreeEntry | undefined): readonly string[] | undefined {
  if (!entry) return [];
  if (entry.kind !== 'file') return undefined;
  const bytes = store.content(entry.hash);
  if (bytes.length > MAX_BYTES || bytes.includes(0)) return undefined;
  if (bytes.length === 0) return [];
  return Buffer.from(bytes).toString('latin1').replace(/\n$/, '').split('\n');
}
