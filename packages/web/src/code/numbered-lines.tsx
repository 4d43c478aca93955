import { useState } from 'react';
import { highlight } from './highlight.ts';
import { count } from '../copy/counts.ts';

const AT_FIRST = 20;
const AT_MOST = 2_000;

/** Lines of a file with their numbers. */
export function NumberedLines({ text, path, first = 1 }: { readonly text: string; readonly path: string; readonly first?: number }) {
  const [isWhole, setWhole] = useState(false);
  const lines = text.replace(/\n$/, '').split('\n');
  return (
    <div className="diff-card">
      <table className="diff">
        <tbody>
          {lines.slice(0, isWhole ? AT_MOST : AT_FIRST).map((line, index) => (
            <tr key={index}>
              <td className="line-number">{first + index}</td>
              <td>
                {highlight(line, path).map((piece, at) => (
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
          Show all {count(lines.length, 'line')}
        </button>
      )}
    </div>
  );
}
