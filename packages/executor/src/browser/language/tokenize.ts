import { LanguageError, type Position } from './language-error.ts';
import { readString } from './read-string.ts';

export type Token = Position &
  (
    | { readonly type: 'name'; readonly text: string }
    | { readonly type: 'number'; readonly value: number; readonly isWhole: boolean }
    | { readonly type: 'string'; readonly value: string }
    /** `break` separates statements: a line's end outside of brackets, or a semicolon. */
    | { readonly type: 'break' | 'end' | '(' | ')' | '[' | ']' | '{' | '}' | ',' | '=' | '.' | '-' | '+' | 'other'; readonly text: string }
  );

const NAME = /[\p{L}_][\p{L}\p{N}_]*/uy;
const NUMBER = /0[xX][\da-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+|(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d+)?/y;
const BLANK = /(?:[ \t\f\r\uFEFF]|\\\r?\n|#[^\n]*)+/y;
/** Models like to put code between fences. */
const FENCE = /[ \t]*```[^\n]*/y;
const STRING_START = /(?:[rRuU]|[bBfF][rR]?|[rR][bBfF])?(?=['"])/y;
const SIGNS = '()[]{},=.-+';

/** The words of a text in Python's syntax, as far as calls with literal arguments need them. Throws `LanguageError`. */
export function tokenize(text: string): readonly Token[] {
  const tokens: Token[] = [];
  const open: string[] = [];
  const place = placesIn(text);
  let at = 0;

  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    return pattern.exec(text)?.[0];
  };

  while (at < text.length) {
    if (at === 0 || text[at - 1] === '\n') at += match(FENCE)?.length ?? 0;
    at += match(BLANK)?.length ?? 0;
    if (at >= text.length) break;
    const position = place(at);
    const char = text[at]!;
    const prefix = match(STRING_START);
    if (prefix !== undefined) {
      const { value, end } = readString(text, at, prefix, position);
      tokens.push({ type: 'string', value, ...position });
      at = end;
    } else if (char === '\n' || char === ';') {
      if (open.length === 0) tokens.push({ type: 'break', text: char, ...position });
      at += 1;
    } else {
      const token = wordAt(match(NAME), /[\d.]/.test(char) ? match(NUMBER) : undefined, char, position);
      if ('([{'.includes(char)) open.push(char);
      if (')]}'.includes(char)) open.pop();
      tokens.push(token.token);
      at += token.length;
    }
  }
  tokens.push({ type: 'end', text: 'the end of the text', ...place(text.length) });
  return tokens;
}

function wordAt(
  name: string | undefined,
  number: string | undefined,
  char: string,
  position: Position,
): { readonly token: Token; readonly length: number } {
  if (name !== undefined) return { token: { type: 'name', text: name, ...position }, length: name.length };
  if (number !== undefined && number !== '.') {
    const value = Number(number.replaceAll('_', ''));
    if (Number.isNaN(value)) throw new LanguageError(`${number} is not a number`, position);
    return { token: { type: 'number', value, isWhole: /^(?:0[xXoObB]|\d[\d_]*$)/.test(number), ...position }, length: number.length };
  }
  const type = SIGNS.includes(char) ? (char as '(') : 'other';
  const whole = String.fromCodePoint(char.codePointAt(0)!);
  return { token: { type, text: whole, ...position }, length: char.length };
}

/** Finds a line and column; asked for growing indexes only. */
function placesIn(text: string): (index: number) => Position {
  let line = 1;
  let start = 0;
  let seen = 0;
  return (index) => {
    for (; seen < index; seen += 1) {
      if (text[seen] !== '\n') continue;
      line += 1;
      start = seen + 1;
    }
    return { line, column: index - start + 1 };
  };
}
