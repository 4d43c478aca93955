import { useMemo, useState } from 'react';
import { t } from '../lib/language/text.ts';
import { useColouredLines } from './use-highlight.ts';

const AT_FIRST = 20;
const AT_MOST = 2_000;

/** Lines of a file with their numbers. */
export function NumberedLines({ text, path, first = 1 }: { readonly text: string; readonly path: string; readonly first?: number }) {
  const [isWhole, setWhole] = useState(false);
  const lines = useMemo(() => text.replace(/\n$/, '').split('\n'), [text]);
  const shown = useMemo(() => lines.slice(0, AT_MOST), [lines]);
  const coloured = useColouredLines(shown, path);
  return (
    <div className="diff-card">
      <table className="diff">
        <tbody>
          {coloured.slice(0, isWhole ? undefined : AT_FIRST).map((pieces, index) => (
            <tr key={index}>
              <td className="line-number">{first + index}</td>
              <td>
                {pieces.map((piece, at) => (
                  <span key={at} className={piece.look}>
                    {piece.text}
                  </span>
                ))}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {!isWhole && lines.length > AT_FIRST && (
        <button type="button" className="more px-3" onClick={() => setWhole(true)}>
          {t('Show all {{count}} lines', { count: lines.length })}
        </button>
      )}
    </div>
  );
}
