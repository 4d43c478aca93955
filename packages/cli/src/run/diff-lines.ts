import { printable } from '../terminal/printable.ts';
import { shortLine } from '../terminal/short-line.ts';

export interface DiffLine {
  readonly tone: 'added' | 'removed' | 'context' | 'state';
  readonly text: string;
}

/** Of one change; the rest is counted. */
const MAX_LINES = 24;
const WIDTH = 5;

/** A unified diff for a terminal: how much it adds and takes away (` +7 −1`), and its lines with their numbers. */
export function diffLines(diff: string): { readonly total: string; readonly lines: readonly DiffLine[] } {
  const lines: DiffLine[] = [];
  const count = { added: 0, removed: 0 };
  const at = { old: 0, new: 0 };
  for (const line of diff.split('\n')) {
    const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(line);
    if (hunk) [at.old, at.new] = [Number(hunk[1]), Number(hunk[2])];
    else if (at.new === 0 && at.old === 0) continue; // the names of the file
    else if (line.startsWith('+')) lines.push(shown('added', at.new++, line));
    else if (line.startsWith('-')) lines.push(shown('removed', at.old++, line));
    else if (line.startsWith(' ')) {
      lines.push(shown('context', at.new++, line));
      at.old++;
    }
  }
  for (const { tone } of lines) if (tone === 'added' || tone === 'removed') count[tone] += 1;
  const rest = lines.length - MAX_LINES;
  const shownLines = rest > 0 ? [...lines.slice(0, MAX_LINES), { tone: 'state' as const, text: `  … ${rest} more lines` }] : lines;
  return { total: diff === '' ? '' : ` +${count.added} −${count.removed}`, lines: shownLines };
}

const SIGNS = { added: '+', removed: '-', context: ' ' } as const;

function shown(tone: keyof typeof SIGNS, number: number, line: string): DiffLine {
  return { tone, text: `${String(number).padStart(WIDTH)} ${SIGNS[tone]} ${shortLine(printable(line.slice(1)).trimEnd())}`.trimEnd() };
}
