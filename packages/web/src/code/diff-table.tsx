import { memo, useState } from 'react';
import type { DiffLine, LineDiff, Range } from './line-diff.ts';
import type { Piece } from './output.tsx';
import { type ColouredLines, useColouredDiff } from './use-highlight.ts';
import { t, textKey } from '../lib/language/text.ts';

export const SIGNS = { added: '+', removed: '−', same: '' } as const;
export const SPOKEN = { added: textKey('added: '), removed: textKey('removed: '), same: undefined } as const;
const AT_FIRST = 400;

/** One file's changes, old and new line numbers at the left. `rows` limits what is shown at first. */
export const DiffTable = memo(function DiffTable(props: {
  readonly diff: LineDiff;
  readonly path: string;
  readonly isNew: boolean;
  readonly rows?: number;
}) {
  const { diff, path, isNew, rows = AT_FIRST } = props;
  const [isWhole, setWhole] = useState(false);
  const coloured = useColouredDiff(diff.rows, path);
  if (diff.isCut)
    return (
      <p className="p-3 text-ink-2">
        {t('Too large to compare here: {{now}} now, {{before}} before.', {
          now: t('{{count}} lines', { count: diff.added }),
          before: t('{{count}} lines', { count: diff.removed }),
        })}
      </p>
    );
  const shown = isWhole ? diff.rows : diff.rows.slice(0, rows);
  return (
    <>
      <table className="diff" data-new={isNew}>
        <colgroup>
          <col className="line-number" />
          <col className="line-number" />
          <col className="sign" />
          <col />
        </colgroup>
        <tbody>
          {shown.map((row, index) =>
            row.line === 'gap' ? (
              <tr key={index} data-line="gap">
                <td colSpan={4}>{t('{{count}} unchanged lines', { count: row.count })}</td>
              </tr>
            ) : (
              <tr key={index} data-line={row.line}>
                <td className="line-number">{row.oldNumber}</td>
                <td className="line-number">{row.newNumber}</td>
                <td className="sign" aria-hidden="true">
                  {SIGNS[row.line]}
                </td>
                <td>
                  {row.line !== 'same' && <span className="sr-only">{t(SPOKEN[row.line])}</span>}
                  <CodeLine line={row} coloured={coloured} />
                </td>
              </tr>
            ),
          )}
        </tbody>
      </table>
      {shown.length < diff.rows.length && (
        <button type="button" className="more px-3" onClick={() => setWhole(true)}>
          {t('Show all {{count}} lines', { count: diff.rows.length })}
        </button>
      )}
    </>
  );
});

export function CodeLine({ line, coloured }: { readonly line: DiffLine; readonly coloured: ColouredLines | undefined }) {
  return splitAtMarks(coloured?.get(line) ?? [{ text: line.text, look: '' }], line.marks).map((piece, index) => {
    const code = piece.look ? <span className={piece.look}>{piece.text}</span> : piece.text;
    return piece.isMarked ? <mark key={index}>{code}</mark> : <span key={index}>{code}</span>;
  });
}

function splitAtMarks(pieces: readonly Piece[], marks: readonly Range[]): readonly (Piece & { readonly isMarked: boolean })[] {
  if (marks.length === 0) return pieces.map((piece) => ({ ...piece, isMarked: false }));
  const edges = marks.flatMap(({ from, to }) => [from, to]);
  let at = 0;
  return pieces.flatMap(({ text, look }) => {
    const start = at;
    at += text.length;
    const cuts = [start, ...edges.filter((edge) => edge > start && edge < start + text.length), start + text.length];
    return cuts.slice(1).map((to, index) => {
      const from = cuts[index]!;
      return { text: text.slice(from - start, to - start), look, isMarked: marks.some((mark) => from >= mark.from && to <= mark.to) };
    });
  });
}
