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

/** Where in the text something stands; both from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** The text is not of the language. Thrown and caught inside `parseActions` only. */
export class LanguageError extends Error {
  constructor(message: string, { line, column }: Position) {
    super(`line ${line}, column ${column}: ${message}`);
  }
}

const SIMPLE: Readonly<Record<string, string>> = {
  '\\': '\\',
  "'": "'",
  '"': '"',
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\n': '',
};
const CODED = /(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|([0-7]{1,3}))/y;

/** A string literal of Python whose prefix begins at `at`. `end` is the index after its last quote. */
function readString(text: string, at: number, prefix: string, position: Position): { readonly value: string; readonly end: number } {
  if (/[bf]/i.test(prefix)) {
    throw new LanguageError(`${prefix}-strings are not taken: nothing is evaluated here, write the text itself`, position);
  }
  const isRaw = /r/i.test(prefix);
  const first = at + prefix.length;
  const quote = text.slice(first, first + 3) === text[first]!.repeat(3) ? text[first]!.repeat(3) : text[first]!;
  let value = '';
  for (let index = first + quote.length; index < text.length;) {
    const char = text[index]!;
    if (text.startsWith(quote, index)) return { value, end: index + quote.length };
    if (char === '\n' && quote.length === 1) break;
    if (char !== '\\') {
      value += char;
      index += 1;
    } else if (isRaw) {
      value += text.slice(index, index + 2); // also a quote, which does not end a raw string after a backslash
      index += 2;
    } else {
      const escape = escapeAt(text, index + 1, position);
      value += escape.value;
      index = escape.end;
    }
  }
  throw new LanguageError(`the string that begins here has no end (${quote})`, position);
}

/** What follows a backslash. One that means nothing stays, as in Python. */
function escapeAt(text: string, at: number, position: Position): { readonly value: string; readonly end: number } {
  const char = text[at] ?? '';
  if (Object.hasOwn(SIMPLE, char)) return { value: SIMPLE[char]!, end: at + 1 };
  if (char === '\r' && text[at + 1] === '\n') return { value: '', end: at + 2 };
  CODED.lastIndex = at;
  const coded = CODED.exec(text);
  if (coded === null) {
    if (/[xuUN]/.test(char)) throw new LanguageError(`the string that begins here has a broken escape: \\${char}`, position);
    return { value: `\\${char}`, end: at + 1 };
  }
  const [whole, ...codes] = coded;
  const hex = codes[0] ?? codes[1] ?? codes[2];
  const code = hex === undefined ? Number.parseInt(codes[3] ?? '', 8) : Number.parseInt(hex, 16);
  if (code > 0x10ffff) throw new LanguageError(`the string that begins here has an escape beyond Unicode: \\${whole}`, position);
  return { value: String.fromCodePoint(code), end: at + whole.length };
}
