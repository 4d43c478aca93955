import { useEffect, useMemo, useState } from 'react';
import type { highlightDiff, highlightLines } from './highlight.ts';
import type { DiffRow } from './line-diff.ts';
import type { Piece } from './output.tsx';

interface Highlight {
  readonly highlightLines: typeof highlightLines;
  readonly highlightDiff: typeof highlightDiff;
}

let loaded: Highlight | undefined;

/** What colours code. It comes with the first code that is shown, which has one colour until then. */
function useHighlight(): Highlight | undefined {
  const [highlight, setHighlight] = useState(loaded);
  useEffect(() => {
    if (highlight) return;
    import('./highlight.ts').then(
      (found) => setHighlight((loaded = found)),
      () => undefined,
    );
  }, [highlight]);
  return highlight;
}

/** The pieces of lines that follow one another. */
export function useColouredLines(lines: readonly string[], path: string): readonly (readonly Piece[])[] {
  const highlight = useHighlight();
  return useMemo(() => highlight?.highlightLines(lines, path) ?? lines.map((text) => [{ text, look: '' }]), [highlight, lines, path]);
}

export type ColouredLines = ReadonlyMap<DiffRow, readonly Piece[]>;

/** The pieces of the lines of a diff; none until they are known. */
export function useColouredDiff(rows: readonly DiffRow[], path: string): ColouredLines | undefined {
  const highlight = useHighlight();
  return useMemo(() => highlight?.highlightDiff(rows, path), [highlight, rows, path]);
}
