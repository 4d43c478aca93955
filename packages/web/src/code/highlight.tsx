import { useState } from 'react';
import type { Piece } from './output.tsx';
import { t } from '../lib/language/text.ts';

const KEYWORDS = new Set(
  (
    'abstract as async await break case catch class const continue debugger def default delete do done elif else enum esac except export extends ' +
    'fi final finally fn for from func function global go goto if impl implements import in interface is lambda let loop match mod mut namespace new ' +
    'nonlocal not of or package pass private protected pub public raise return self static struct super switch then this throw trait try type typeof ' +
    'union unsafe use using var void where while with yield local echo exit and'
  ).split(' '),
);
const CONSTANTS = new Set(['true', 'false', 'null', 'undefined', 'None', 'True', 'False', 'nil', 'NaN']);
const HASH_COMMENTS = new Set(['py', 'sh', 'bash', 'rb', 'yml', 'yaml', 'toml', 'dockerfile', 'makefile', 'r', 'pl']);
const PLAIN = new Set(['md', 'txt', 'csv', 'log', 'svg', 'lock']);
const MAX_LINE = 2_000;

const CODE = String.raw`[A-Za-z_$][\w$]*|\d[\d_.xa-fA-F]*|"(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?|\x60(?:\\.|[^\x60\\])*\x60?`;
const HASH = String.raw`(?<comment>#.*)`;
const SLASHES = String.raw`(?<comment>\/\/.*|\/\*.*?(?:\*\/|$)|^\s*\*(?:\s.*|\/|$))`;
const WORDS_BY_COMMENT = {
  hash: new RegExp(`${HASH}|${CODE}|[\\s\\S]`, 'g'),
  slashes: new RegExp(`${SLASHES}|${CODE}|[\\s\\S]`, 'g'),
};

/** One line of code as coloured pieces. A guess from the words alone: right for most lines of most languages, never wrong about the text. */
export function highlight(line: string, path: string): readonly Piece[] {
  const language = path.slice(Math.max(path.lastIndexOf('.'), path.lastIndexOf('/')) + 1).toLowerCase();
  if (PLAIN.has(language) || line.length > MAX_LINE) return [{ text: line, look: '' }];
  const pieces: Piece[] = [];
  for (const match of line.matchAll(WORDS_BY_COMMENT[HASH_COMMENTS.has(language) ? 'hash' : 'slashes'])) {
    const text = match[0];
    const next = line[match.index + text.length];
    const look = match.groups?.comment === undefined ? lookOf(text, next) : 'syn-com';
    const last = pieces.at(-1);
    if (last?.look === look) pieces[pieces.length - 1] = { text: last.text + text, look };
    else pieces.push({ text, look });
  }
  return pieces;
}

function lookOf(text: string, next: string | undefined): string {
  const first = text[0]!;
  if (first === '"' || first === "'" || first === '`') return text.length > 1 ? 'syn-str' : '';
  if (/\d/.test(first)) return 'syn-num';
  if (!/[A-Za-z_$]/.test(first)) return '';
  if (CONSTANTS.has(text)) return 'syn-num';
  if (KEYWORDS.has(text)) return 'syn-key';
  if (next === '(') return 'syn-fn';
  return /^[A-Z][A-Za-z0-9]*[a-z]/.test(text) ? 'syn-type' : '';
}

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
          {t('Show all {{count}} lines', { count: lines.length })}
        </button>
      )}
    </div>
  );
}
