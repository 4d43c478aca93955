/** A command line of bash as the simple commands that may run. Pure, bounded in length, depth and number; never throws. */
import { LineReader } from './line-reader.ts';
import { UNKNOWN_WORD, type Assignment, type ParsedShell, type Redirect, type ShellCommand, type Word } from './shell-script.ts';

const MAX_CHARS = 64 * 1024;
const MAX_COMMANDS = 1000;
const MAX_WORDS = 5000;
/** A backslash at the end of a line joins what bash reads as one operator. */
const JOINED = /[$<>&|;(){[!=`]\\\n|\d(?:\\\n)+[<>]/;
// eslint-disable-next-line no-control-regex
const CONTROL = /[\x00-\x08\x0b-\x1f\x7f]/;
const UNSUPPORTED = new Set(['select', 'coproc', 'then', 'elif', 'else', 'fi', 'do', 'done', 'esac', 'in', '}', ']]']);
/** What the shell reads as one of these when its parts are joined. */
const RESERVED = new Set([...UNSUPPORTED, 'if', 'while', 'until', 'for', 'case', 'function', 'time', '{', '!', '[[', '-p', '--']);
const EVALUATES = new Set(['-v', '-R', '-eq', '-ne', '-lt', '-le', '-gt', '-ge']);

interface Shared {
  readonly commands: ShellCommand[];
  readonly doubts: Set<string>;
  repeats: boolean;
  words: number;
}

export function parseShell(text: string): ParsedShell {
  if (text.length > MAX_CHARS) return { ok: false, reason: 'it is too long' };
  if (CONTROL.test(text)) return { ok: false, reason: 'it holds control characters' };
  const shared: Shared = { commands: [], doubts: new Set(), repeats: false, words: 0 };
  const reason = new ShellParser(text, shared, 0).script();
  const { commands, doubts, repeats } = shared;
  return reason === undefined ? { ok: true, script: { commands, doubts: [...doubts], repeats } } : { ok: false, reason };
}

const NOTHING: ReadonlySet<string> = new Set();
const PARENTHESIS = new Set([')']);
const BRACE = new Set(['}']);
const DONE = new Set(['done']);
const CASE = new Set([';;', ';&', ';;&', 'esac']);

class ShellParser extends LineReader {
  readonly #shared: Shared;

  constructor(text: string, shared: Shared, depth: number) {
    super(text, { depth, doubts: shared.doubts });
    this.#shared = shared;
  }

  /** The reason why it cannot be read. */
  script(): string | undefined {
    if (JOINED.test(this.text)) return 'an operator that is cut by a line end';
    // Behind it nothing is joined, and where the line end is taken away the backslash is part of the word.
    if (/\\\n\s*$/.test(this.text)) return 'it ends with a backslash';
    this.#list(NOTHING);
    if (this.heredocs.length > 0) this.fail('a heredoc has no body');
    return this.failure;
  }

  protected substitution(): void {
    const outer = this.heredocs;
    this.heredocs = [];
    this.substitutions += 1;
    if (this.#list(PARENTHESIS) !== ')') this.fail('a parenthesis has no end');
    this.substitutions -= 1;
    this.heredocs = outer;
  }

  protected nested(text: string, as: 'script' | 'heredoc'): void {
    const inner = new ShellParser(text, this.#shared, this.depth);
    const reason = as === 'script' ? inner.script() : inner.#body();
    if (reason !== undefined) this.fail(reason);
  }

  #body(): string | undefined {
    if (JOINED.test(this.text)) return 'an operator that is cut by a line end';
    this.heredoc();
    return this.failure;
  }

  /** Reads commands up to one of `ends`, which it passes and returns; at the end of the text it returns nothing. */
  #list(ends: ReadonlySet<string>): string | undefined {
    let state: 'begin' | 'ended' | 'open' | 'compound' = 'begin';
    for (;;) {
      this.blanks();
      if (this.isAtEnd) {
        if (state === 'open') this.fail('a command is missing');
        return undefined;
      }
      const end = this.#endHere(ends);
      if (end !== undefined) {
        if (state === 'open' || (state === 'begin' && !/^[);e]/.test(end))) this.fail('a command is missing');
        this.at += end.length;
        return end;
      }
      if (state === 'compound') return this.#unexpected();
      const isCompound = this.#command();
      const operator = this.#operator();
      if (operator === undefined) {
        state = 'compound';
        if (!isCompound && !this.isAtEnd && this.#endHere(ends) === undefined) return this.#unexpected();
      } else state = /^(?:&&|\|\||\|&?)$/.test(operator) ? 'open' : 'ended';
    }
  }

  #unexpected(): undefined {
    this.fail('a character that is not expected here');
  }

  #endHere(ends: ReadonlySet<string>): string | undefined {
    const sign = /;;&|;;|;&|\)/y;
    sign.lastIndex = this.at;
    const found = sign.exec(this.text)?.[0] ?? this.#reserved();
    return found !== undefined && ends.has(found) ? found : undefined;
  }

  /** The unquoted word here, if it could be reserved. */
  #reserved(): string | undefined {
    const word = /(?:[a-z]{2,8}|[{}!]|\[\[|\]\])(?=[ \t\n;&|<>()]|$)/y;
    word.lastIndex = this.at;
    return word.exec(this.text)?.[0];
  }

  /** `\n` also for a comment's end: the line end itself stays for `#blanks`. */
  #operator(): string | undefined {
    this.spaces();
    if (this.looksAt('\n')) return '\n';
    if (this.looksAt(';;') || this.looksAt(';&')) return undefined;
    const sign = /&&|\|\||\|&|[;&|]/y;
    sign.lastIndex = this.at;
    const operator = sign.exec(this.text)?.[0];
    this.at += operator?.length ?? 0;
    return operator;
  }

  /** Whether it was a compound one, behind which a reserved word may stand at once. */
  #command(): boolean {
    for (;;) {
      this.spaces();
      const word = this.#reserved();
      if (word !== '!' && word !== 'time') break;
      this.at += word.length;
      this.spaces();
      if (word === 'time') this.#optionsOfTime();
    }
    let isCompound = true;
    this.deeper(() => (isCompound = this.#compound()));
    if (isCompound) this.#push({ assignments: [], words: [], redirects: this.redirects() });
    return isCompound;
  }

  #optionsOfTime(): void {
    const options = /(?:-p[ \t]+)?(?:--(?=[ \t]))?/y;
    options.lastIndex = this.at;
    this.at += options.exec(this.text)?.[0].length ?? 0;
    this.spaces();
  }

  #compound(): boolean {
    const word = this.looksAt('(') ? '(' : this.#reserved();
    switch (word) {
      case '(':
        if (this.looksAt('((')) this.fail('a sum');
        this.at += 1;
        this.#expect(this.#list(PARENTHESIS));
        return true;
      case '{':
        this.at += 1;
        this.#expect(this.#list(BRACE));
        return true;
      case 'if':
        this.at += 2;
        this.#if();
        return true;
      case 'while':
      case 'until':
        this.#shared.repeats = true;
        this.at += 5;
        this.#expect(this.#list(new Set(['do'])));
        this.#expect(this.#list(DONE));
        return true;
      case 'for':
        this.at += 3;
        this.#for();
        return true;
      case 'case':
        this.at += 4;
        this.#case();
        return true;
      case 'function':
        this.at += 8;
        this.#function();
        return true;
      case '[[':
        this.at += 2;
        this.#condition();
        return true;
      default:
        if (word !== undefined && UNSUPPORTED.has(word)) this.fail(`\`${word}\``);
        return this.#simple();
    }
  }

  #expect(end: string | undefined): void {
    if (end === undefined) this.fail('a compound command has no end');
  }

  #if(): void {
    this.#expect(this.#list(new Set(['then'])));
    for (;;) {
      const end = this.#list(new Set(['elif', 'else', 'fi']));
      this.#expect(end);
      if (end === 'else') return this.#expect(this.#list(new Set(['fi'])));
      if (end !== 'elif') return;
      this.#expect(this.#list(new Set(['then'])));
    }
  }

  #for(): void {
    this.#shared.repeats = true;
    this.spaces();
    const name = /[A-Za-z_]\w*(?=[\s;])/y;
    name.lastIndex = this.at;
    const variable = name.exec(this.text)?.[0];
    if (variable === undefined) return this.fail('a `for` of a kind that is not understood');
    this.at += variable.length;
    this.blanks();
    if (this.#reserved() === 'in') {
      this.at += 2;
      for (this.spaces(); !this.isAtEnd && !this.looksAt(';') && !this.looksAt('\n'); this.spaces()) this.word();
    }
    if (this.looksAt(';') && !this.looksAt(';;')) this.at += 1;
    this.#push({ assignments: [{ name: variable, value: UNKNOWN_WORD }], words: [], redirects: [] });
    this.blanks();
    if (this.#reserved() !== 'do') return this.fail('a `for` without `do`');
    this.at += 2;
    this.#expect(this.#list(DONE));
  }

  #case(): void {
    this.spaces();
    this.word();
    this.blanks();
    if (this.#reserved() !== 'in') return this.fail('a `case` without `in`');
    this.at += 2;
    for (;;) {
      this.blanks();
      if (this.isAtEnd) return this.fail('a `case` has no end');
      if (this.#reserved() === 'esac') return void (this.at += 4);
      if (this.looksAt('(')) this.at += 1;
      for (;;) {
        this.spaces();
        if (this.isAtEnd) return;
        this.word();
        this.spaces();
        if (!this.looksAt('|')) break;
        this.at += 1;
      }
      if (!this.looksAt(')')) return this.fail('a `case` of a kind that is not understood');
      this.at += 1;
      const end = this.#list(CASE);
      this.#expect(end);
      if (end === 'esac') return;
    }
  }

  #function(): void {
    this.spaces();
    if (this.isAtEnd) return this.fail('a function without a name');
    this.word();
    this.spaces();
    if (this.looksAt('(')) return this.#parameters();
    this.blanks();
    this.#functionBody();
  }

  #parameters(): void {
    this.at += 1;
    this.spaces();
    if (!this.looksAt(')')) return this.fail('parentheses behind a word');
    this.at += 1;
    this.blanks();
    this.#functionBody();
  }

  /** The shell remembers it, so what it is called with later is not known here. */
  #functionBody(): void {
    this.#shared.repeats = true;
    this.doubts.add('a function');
    this.deeper(() => {
      if (!this.#compound()) this.fail('a function of a kind that is not understood');
    });
    this.#push({ assignments: [], words: [], redirects: this.redirects() });
  }

  #condition(): void {
    const comment = /[ \t\n]*#/y;
    for (;;) {
      comment.lastIndex = this.at;
      if (comment.test(this.text)) return this.fail('a comment within `[[`');
      this.blanks();
      if (this.isAtEnd) return this.fail('`[[` has no end');
      if (this.#reserved() === ']]') return void (this.at += 2);
      const sign = /&&|\|\||[()]/y;
      sign.lastIndex = this.at;
      const found = sign.exec(this.text)?.[0];
      if (found !== undefined) this.at += found.length;
      else this.#operand(this.word());
    }
  }

  #operand({ raw }: Word): void {
    if (EVALUATES.has(raw)) this.doubts.add('a condition that computes');
    if (raw.includes('\\\n')) this.doubts.add('a condition with a word that is cut by a line end');
  }

  #simple(): boolean {
    const assignments: Assignment[] = [];
    const words: Word[] = [];
    const redirects: Redirect[] = [];
    for (;;) {
      this.spaces();
      if (this.looksAt('(') && words.length === 1 && assignments.length + redirects.length === 0) {
        this.#parameters();
        return true;
      }
      const redirect = this.redirect();
      if (redirect) redirects.push(redirect);
      else if (this.isAtEnd || /[\n;&|()]/.test(this.text[this.at]!)) break;
      else if (words.length > 0 || !this.#assignment(assignments)) words.push(this.word());
    }
    if (assignments.length + words.length + redirects.length === 0) this.fail('a command is missing');
    if (words[0]?.raw.includes('\\\n') && RESERVED.has(words[0].text)) this.doubts.add('a reserved word that is cut by a line end');
    this.#push({ assignments, words, redirects });
    return false;
  }

  #assignment(assignments: Assignment[]): boolean {
    const name = /([A-Za-z_](?:\w|\\\n)*)(\[|\+?=)/y;
    name.lastIndex = this.at;
    const [all, variable, sign] = name.exec(this.text) ?? [];
    if (all === undefined) return false;
    if (sign === '[') {
      this.doubts.add('a subscript');
      return false;
    }
    this.at += all.length;
    const isEmpty = this.isAtEnd || /[\s;&|<>)]/.test(this.text[this.at]!);
    if (this.looksAt('(')) this.fail('an array');
    const value: Word = isEmpty ? { text: '', known: 'literal', isQuoted: false, raw: '' } : this.word();
    assignments.push({ name: variable!.replaceAll('\\\n', ''), value });
    return true;
  }

  #push(command: ShellCommand): void {
    const { assignments, words, redirects } = command;
    if (assignments.length + words.length + redirects.length === 0) return;
    this.#shared.words += words.length;
    if (this.#shared.commands.length >= MAX_COMMANDS || this.#shared.words > MAX_WORDS) return this.fail('it holds too many commands');
    this.#shared.commands.push(command);
  }
}
