import type { DiffRow } from './line-diff.ts';
import type { Piece } from './output.tsx';

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
/** Of what may go over several lines. What does not end within them is looked for no further: it may not have begun here. */
const MAX_SPAN = 10_000;

const span = (from: string, inside: string, to: string) => `${from}${inside}{0,${MAX_SPAN}}?${to}`;
const DOCSTRING = ['"""', "'''"].map((quotes) => span(quotes, String.raw`(?:\\[\s\S]|[^\\])`, quotes)).join('|');
const TEMPLATE = String.raw`${span('\x60', String.raw`(?:\\[\s\S]|[^\x60\\])`, '\x60')}|\x60[^\x60\n]*`;
const CODE = String.raw`[A-Za-z_$][\w$]*|\d[\d_.xa-fA-F]*|${DOCSTRING}|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?|${TEMPLATE}`;
const HASH = String.raw`(?<comment>#.*)`;
const SLASHES = String.raw`(?<comment>\/\/.*|${span(String.raw`\/\*`, String.raw`[\s\S]`, String.raw`\*\/`)}|\/\*.*|^[ \t]*\*(?:[ \t].*|\/|$))`;
const WORDS_BY_COMMENT = {
  hash: new RegExp(`${HASH}|${CODE}|[\\s\\S]`, 'gm'),
  slashes: new RegExp(`${SLASHES}|${CODE}|[\\s\\S]`, 'gm'),
};

/** Code as coloured pieces. A guess from the words alone: right for most of most languages, never wrong about the text. */
function highlight(code: string, path: string): readonly Piece[] {
  const language = path.slice(Math.max(path.lastIndexOf('.'), path.lastIndexOf('/')) + 1).toLowerCase();
  if (PLAIN.has(language)) return [{ text: code, look: '' }];
  const pieces: Piece[] = [];
  for (const match of code.matchAll(WORDS_BY_COMMENT[HASH_COMMENTS.has(language) ? 'hash' : 'slashes'])) {
    const text = match[0];
    const next = code[match.index + text.length];
    const look = match.groups?.comment === undefined ? lookOf(text, next) : 'syn-com';
    const last = pieces.at(-1);
    if (last?.look === look) pieces[pieces.length - 1] = { text: last.text + text, look };
    else pieces.push({ text, look });
  }
  return pieces;
}

/** Lines that follow one another, read as one text: what begins in one may end in another. Very long ones have one colour. */
export function highlightLines(lines: readonly string[], path: string): readonly (readonly Piece[])[] {
  const isLong = (line: string) => line.length > MAX_LINE;
  const coloured: Piece[][] = [[]];
  for (const { text, look } of highlight(lines.map((line) => (isLong(line) ? '' : line)).join('\n'), path)) {
    for (const [index, part] of text.split('\n').entries()) {
      if (index > 0) coloured.push([]);
      if (part) coloured.at(-1)!.push({ text: part, look });
    }
  }
  return lines.map((line, index) => (isLong(line) ? [{ text: line, look: '' }] : coloured[index]!));
}

/** Each side is read as a text of its own: what was removed begins and ends nothing of what is there now. A gap may hide an end. */
export function highlightDiff(rows: readonly DiffRow[], path: string): ReadonlyMap<DiffRow, readonly Piece[]> {
  const coloured = new Map<DiffRow, readonly Piece[]>();
  let start = 0;
  for (let end = 0; end <= rows.length; end += 1) {
    if (end < rows.length && rows[end]!.line !== 'gap') continue;
    const hunk = rows.slice(start, end).filter((row) => row.line !== 'gap');
    start = end;
    for (const other of ['added', 'removed']) {
      const side = hunk.filter(({ line }) => line !== other);
      const texts = side.map(({ text }) => text);
      for (const [index, pieces] of highlightLines(texts, path).entries()) coloured.set(side[index]!, pieces);
    }
  }
  return coloured;
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
