import { LanguageError, type Position } from './language-error.ts';

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
export function readString(text: string, at: number, prefix: string, position: Position): { readonly value: string; readonly end: number } {
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
