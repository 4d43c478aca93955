/**
 * Reads the words of a command line. It understands a part of bash and fails at the rest: what it does not know is no word.
 *
 * Invariants
 * WO1  A failure moves to the end of the text, so every loop ends; each step moves forward.
 * WO2  A word is `literal` only when bash makes exactly this one word of it.
 */
import type { Word } from './shell-script.ts';

const MAX_DEPTH = 40;
const META = new Set([' ', '\t', '\n', ';', '&', '|', '<', '>', '(', ')']);
const NAME = /[A-Za-z_]\w*|[0-9@*#?$!-]/y;
/** Sums of numbers: a variable in a sum may hold a subscript that runs commands. */
const SUM = /[\s\d+\-*/%()<>=!&|^~?:,]*?\)\)/y;
const CUT = /:\s*\d+(?::\s*\d+)?\}/y;
const DEFAULT = /:?[-+?]|%%?|##?/y;
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', a: '\x07', b: '\b', e: '\x1b', E: '\x1b', f: '\f', v: '\v' };

interface Draft {
  text: string;
  known: Word['known'];
  isQuoted: boolean;
  hasBrace: boolean;
  /** Its last character: asking the growing text for it would copy it each time. */
  last: string;
}

export abstract class WordReader {
  protected readonly text: string;
  protected at = 0;
  protected depth: number;
  protected failure: string | undefined;
  /** Heredocs whose bodies begin after the next line end. */
  protected awaitsBodies = 0;
  readonly doubts: Set<string>;

  constructor(text: string, { depth, doubts }: { readonly depth: number; readonly doubts: Set<string> }) {
    this.text = text;
    this.depth = depth;
    this.doubts = doubts;
  }

  /** Reads the script of `$(`, `<(` or `>(` up to its `)`. */
  protected abstract substitution(): void;
  /** Reads a text that stands in a text of its own: what backquotes hold, what a heredoc holds. */
  protected abstract nested(text: string, as: 'script' | 'heredoc'): void;

  protected fail(reason: string): void {
    this.failure ??= reason;
    this.at = this.text.length;
  }

  protected get isAtEnd(): boolean {
    return this.at >= this.text.length;
  }

  protected looksAt(text: string): boolean {
    return this.text.startsWith(text, this.at);
  }

  protected deeper(read: () => void): void {
    this.depth += 1;
    if (this.depth > MAX_DEPTH) this.fail('it has too many levels');
    else read();
    this.depth -= 1;
  }

  /** The caller has seen that a word begins here. */
  protected word(): Word {
    const from = this.at;
    const word: Draft = { text: '', known: 'literal', isQuoted: false, hasBrace: false, last: '' };
    if (this.looksAt('<(') || this.looksAt('>(')) this.#processSubstitution(word);
    while (!this.isAtEnd && !META.has(this.text[this.at]!)) this.#part(word);
    if (this.at === from) this.fail('a word is missing');
    const { text, known, isQuoted } = word;
    const raw = this.text.slice(from, this.at);
    return { text, known: raw === '[' ? 'literal' : known, isQuoted, raw };
  }

  #processSubstitution(word: Draft): void {
    word.known = 'unknown';
    this.at += 2;
    this.deeper(() => this.substitution());
  }

  #part(word: Draft): void {
    const char = this.text[this.at]!;
    if (char === "'") return this.#quoted(word);
    if (char === '"') return this.#doubleQuoted(word);
    if (char === '\\') return this.#escaped(word);
    if (char === '$') return this.#dollar(word, 'outside');
    if (char === '`') return this.#backquoted(word);
    if (char === '!') this.#mayRecall('outside');
    if (char === '*' || char === '?' || char === '[') glob(word);
    if (char === '~' && (word.text === '' || word.last === '=' || word.last === ':')) word.known = 'unknown';
    if (char === '{') word.hasBrace = true;
    this.#take(word, char);
    this.at += 1;
  }

  #take(word: Draft, text: string): void {
    word.text += text;
    if (word.hasBrace && (text === ',' || (text === '.' && word.last === '.'))) word.known = 'unknown';
    word.last = text;
  }

  /** An interactive shell may put an earlier command in its place. */
  #mayRecall(where: 'outside' | 'quotes'): void {
    const next = this.text[this.at + 1] ?? '';
    const isPlain = next === '' || ' \t\n=('.includes(next) || (where === 'quotes' && next === '"');
    if (!isPlain) this.doubts.add('history expansion');
  }

  #quoted(word: Draft): void {
    const end = this.text.indexOf("'", this.at + 1);
    if (end < 0) return this.fail('a quote has no end');
    this.#add(word, this.text.slice(this.at + 1, end));
    this.at = end + 1;
  }

  #add(word: Draft, text: string): void {
    if (text.includes('\n') && this.awaitsBodies > 0) return this.fail('a line ends within quotes before a heredoc');
    word.isQuoted = true;
    for (const char of text) this.#take(word, char);
  }

  #escaped(word: Draft): void {
    const next = this.text[this.at + 1];
    if (next === undefined) return this.fail('it ends with a backslash');
    this.at += 2;
    if (next === '\n') return this.awaitsBodies > 0 ? this.fail('a line ends with a backslash before a heredoc') : undefined;
    this.#add(word, next);
  }

  #doubleQuoted(word: Draft): void {
    this.at += 1;
    word.isQuoted = true;
    this.#untilQuote(word, '"');
  }

  /** The inside of double quotes, and of a heredoc, which ends with the text. */
  #untilQuote(word: Draft, quote: '"' | undefined): void {
    for (;;) {
      const char = this.text[this.at];
      if (char === undefined) return quote === undefined ? undefined : this.fail('a quote has no end');
      if (char === quote) return void (this.at += 1);
      if (char === '$') this.#dollar(word, 'quotes');
      else if (char === '`') this.#backquoted(word);
      else if (char === '\\') this.#escapedInQuotes(word);
      else {
        if (char === '!' && quote) this.#mayRecall('quotes');
        this.#add(word, char);
        this.at += 1;
      }
    }
  }

  protected heredoc(): void {
    this.#untilQuote({ text: '', known: 'literal', isQuoted: false, hasBrace: false, last: '' }, undefined);
  }

  #escapedInQuotes(word: Draft): void {
    const next = this.text[this.at + 1];
    if (next === '\n') this.at += 2;
    else if (next !== undefined && '$`"\\'.includes(next)) {
      this.#add(word, next);
      this.at += 2;
    } else {
      this.#add(word, '\\');
      this.at += 1;
    }
  }

  #backquoted(word: Draft): void {
    word.known = 'unknown';
    let end = this.at + 1;
    while (end < this.text.length && this.text[end] !== '`') end += this.text[end] === '\\' ? 2 : 1;
    if (end >= this.text.length) return this.fail('a backquote has no end');
    const inside = this.text.slice(this.at + 1, end);
    // Within double quotes bash reads `\"` in two ways; so does nobody who means well.
    if (inside.includes('\\"') || (inside.includes('\n') && this.awaitsBodies > 0))
      return this.fail('backquotes that hold more than a command');
    this.at = end + 1;
    this.deeper(() => this.nested(inside.replace(/\\([`\\$])/g, '$1'), 'script'));
  }

  #dollar(word: Draft, where: 'outside' | 'quotes'): void {
    const next = this.text[this.at + 1] ?? '';
    if (next === "'" && where === 'outside') return this.#ansi(word);
    if (next === '"' && where === 'outside') return this.fail('a translated text');
    if (next === '[') return this.fail('a sum');
    if (next === '(') return this.#parenthesized(word);
    if (next === '{') return this.#braced(word, where);
    NAME.lastIndex = this.at + 1;
    const name = NAME.exec(this.text)?.[0];
    if (name === undefined) {
      word.text += '$';
      this.at += 1;
      return;
    }
    word.known = 'unknown';
    this.at += 1 + name.length;
  }

  #parenthesized(word: Draft): void {
    word.known = 'unknown';
    this.at += 2;
    if (!this.looksAt('(')) return this.deeper(() => this.substitution());
    SUM.lastIndex = this.at + 1;
    const sum = SUM.exec(this.text)?.[0];
    if (sum === undefined) return this.fail('a sum with variables');
    this.at += 1 + sum.length;
  }

  #braced(word: Draft, where: 'outside' | 'quotes'): void {
    word.known = 'unknown';
    this.at += 2;
    if (/^#[A-Za-z_@*]/.test(this.text.slice(this.at, this.at + 2))) this.at += 1;
    NAME.lastIndex = this.at;
    const name = NAME.exec(this.text)?.[0];
    if (name === undefined) return this.fail('an expansion of a kind that is not understood');
    this.at += name.length;
    if (this.looksAt('}')) return void (this.at += 1);
    CUT.lastIndex = this.at;
    const cut = CUT.exec(this.text)?.[0];
    if (cut !== undefined) return void (this.at += cut.length);
    DEFAULT.lastIndex = this.at;
    const operator = DEFAULT.exec(this.text)?.[0];
    if (operator === undefined) return this.fail('an expansion of a kind that is not understood');
    this.at += operator.length;
    this.deeper(() => this.#untilBrace(word, where));
  }

  #untilBrace(word: Draft, where: 'outside' | 'quotes'): void {
    for (;;) {
      const char = this.text[this.at];
      if (char === undefined) return this.fail('an expansion has no end');
      if (char === '}') return void (this.at += 1);
      if (where === 'quotes' && (char === '"' || char === "'")) return this.fail('quotes within an expansion within quotes');
      if (char === '<' || char === '>') return this.fail('an expansion of a kind that is not understood');
      if (META.has(char)) this.#add(word, char);
      if (META.has(char)) this.at += 1;
      else this.#part(word);
    }
  }

  #ansi(word: Draft): void {
    this.at += 2;
    word.isQuoted = true;
    for (;;) {
      const char = this.text[this.at];
      if (char === undefined) return this.fail('a quote has no end');
      if (char === "'") return void (this.at += 1);
      if (char !== '\\') {
        this.#add(word, char);
        this.at += 1;
        continue;
      }
      this.at += 1;
      const code = /(?:x([0-9a-f]{1,2})|([0-7]{1,3})|u([0-9a-f]{1,4})|U([0-9a-f]{1,8}))/iy;
      code.lastIndex = this.at;
      const [all, hex, octal, short, long] = code.exec(this.text) ?? [];
      const value = octal ? parseInt(octal, 8) & 0xff : parseInt(hex ?? short ?? long ?? '', 16);
      const next = this.text[this.at] ?? '';
      // `\x{68}` is in no manual. A zero ends the text, a byte above ASCII is part of a character, `\c` is a control character.
      if (all ? !(value > 0 && value < 0x80) : next === 'c' || next === '' || this.looksAt('x{'))
        return this.fail('a quoted character that is not understood');
      this.#add(word, all ? String.fromCodePoint(value) : (ESCAPES[next] ?? (`'"\\?`.includes(next) ? next : `\\${next}`)));
      this.at += all ? all.length : 1;
    }
  }
}

function glob(word: Draft): void {
  if (word.known === 'unknown') return;
  // What begins with it may be an option; `.*` is also the folder above.
  word.known = word.text === '' || word.text.startsWith('-') || /(?:^|\/)\.[^/]*$/.test(word.text) ? 'unknown' : 'pattern';
}
